import type { ToolProfile } from '../tool/profile.ts'

export interface ResultLimits {
  /** Bytes of JSON text that a caller is handed; above it the whole is kept aside. A tool's profile may say otherwise. */
  readonly maxBytes: number
  /** Bytes above which a result is not even kept aside. */
  readonly hardBytes: number
  /** How many arrays and objects may be open at once. */
  readonly depth: number
  /** By tool key (`server/name`): the content types that may pass. A tool that is not in it may answer with any type. */
  readonly allowedTypes?: ReadonlyMap<string, readonly string[]>
}

export const defaultResultLimits: ResultLimits = Object.freeze({ maxBytes: 256 << 10, hardBytes: 16 << 20, depth: 64 })

/** Below this a notice that says where the whole is kept would not fit. */
export const SMALLEST_ROOM = 1024

/** Bytes that a result of this tool may take; never more than what its budgets had left when the call was let through. */
export function roomFor(profile: ToolProfile, limits: ResultLimits, held: number): number {
  return Math.max(SMALLEST_ROOM, Math.min(profile.maxResultBytes ?? limits.maxBytes, limits.hardBytes, held))
}
