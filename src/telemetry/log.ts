import { pino } from 'pino'
import type { Finished } from './observed.ts'

export interface Log {
  fault(fault: unknown, where: string): void
  finished(call: Finished): void
}

/**
 * One JSON object a line on standard error, and never on standard output, which may be the wire of MCP. `$COUNTERSIGN_LOG`: error, warn
 * (where nothing is said), info (refusals too) or debug (every call). No arguments, no results.
 */
export function openLog(level = process.env['COUNTERSIGN_LOG'] ?? 'warn'): Log {
  const known = ['error', 'warn', 'info', 'debug', 'silent'].includes(level) ? level : 'warn'
  const log = pino({ level: known, base: { pid: process.pid } }, pino.destination({ fd: 2, sync: true }))
  return {
    fault: (fault, where) => {
      const { message, code } = fault instanceof Error ? (fault as NodeJS.ErrnoException) : { message: String(fault) }
      log.error({ where, ...(code === undefined ? {} : { code }) }, message)
    },
    finished: ({ tool, door, outcome, code, operation, seconds }) => {
      const facts = { tool, door, code, operation, ms: Math.round(seconds * 1000) }
      if (outcome === 'unknown' || outcome === 'fault') log.warn(facts, outcome)
      else if (outcome === 'refused') log.info(facts, outcome)
      else log.debug(facts, outcome)
    },
  }
}
