import { randomFillSync } from 'node:crypto'

// Crockford's base 32 without the letters that are read as digits.
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz'
const pool = Buffer.alloc(16384)
let used = pool.length

function randomByte(): number {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  return pool[used++]!
}

/** That many random bytes, from a pool: asking the system for each few would cost more than all else of an identifier. */
export function randomSalt(length: number): Uint8Array {
  const salt = new Uint8Array(length)
  for (let n = 0; n < length; n++) salt[n] = randomByte()
  return salt
}

/**
 * A new identifier: prefix, underscore, 10 characters of milliseconds, 16 of randomness (80 bits).
 * It sorts by time, so that rows keyed by it are appended and not scattered.
 */
export function newId(
  prefix: 'prp' | 'op' | 'apr' | 'cnv' | 'ses' | 'spl' | 'lgn' | 'run',
  now: number = Date.now(),
): string {
  let random = ''
  for (let n = 0; n < 16; n++) random += ALPHABET[randomByte() & 31]
  return `${prefix}_${timeText(now)}${random}`
}

/** No identifier made at that time or later sorts before this text. */
export function firstIdAt(prefix: string, at: number): string {
  return `${prefix}_${timeText(at)}`
}

function timeText(at: number): string {
  let time = ''
  for (let rest = at, n = 0; n < 10; n++) {
    time = ALPHABET[rest % 32] + time
    rest = Math.floor(rest / 32)
  }
  return time
}
