import { parseDuration } from '../../config/quantity.ts'
import { UsageFault } from '../fault.ts'

/** A date and time, or how long ago (`24h`), in milliseconds since 1970. */
export function momentOf(option: string, text: string, now: number = Date.now()): number {
  const ago = parseDuration(text)
  const at = ago === undefined ? Date.parse(text) : now - ago
  if (!Number.isFinite(at) || at < 0)
    throw new UsageFault(`${option} ${text}: expected a date like 2026-11-30T12:00Z, or a time back like 24h`)
  return at
}
