import { closeSync, existsSync, fdatasyncSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { digest } from '../../words/digest.ts'

export interface Head {
  readonly size: number
  readonly leaf: string
}

/**
 * What is kept of the chain outside its database, so that a ledger that went backwards can be told from one that did not:
 * the newest synced head (overwritten in place) and every checkpoint (appended and synced).
 */
export class OutsideHead {
  readonly #head: number
  readonly #checkpoints: number

  constructor(home: string) {
    this.#head = openSync(headFile(home), existsSync(headFile(home)) ? 'r+' : 'w+', 0o600)
    this.#checkpoints = openSync(checkpointsFile(home), 'a', 0o600)
  }

  /** Written after each synced commit. Not synced itself: it has to outlive this process, and a lost one only says less. */
  move(head: Head): void {
    writeSync(this.#head, `${headLine(head)}\n`, 0)
  }

  checkpoint(note: string, head: Head): void {
    writeSync(this.#checkpoints, `${JSON.stringify({ note })}\n`)
    fsyncSync(this.#checkpoints)
    this.move(head)
    fdatasyncSync(this.#head)
  }

  close(): void {
    closeSync(this.#head)
    closeSync(this.#checkpoints)
  }
}

function headFile(home: string): string {
  return join(home, 'evidence.head')
}
function checkpointsFile(home: string): string {
  return join(home, 'evidence.checkpoints')
}

// Fixed length, so that a shorter line never leaves the end of a longer one behind it.
function headLine({ size, leaf }: Head): string {
  const text = `${String(size).padStart(16, '0')} ${leaf}`
  return `${text} ${digest(text).slice(0, 16)}`
}

/** The head that was last written, undefined where there is none, `unreadable` where the file is not what was written. */
export function readHead(home: string): Head | 'unreadable' | undefined {
  if (!existsSync(headFile(home))) return undefined
  const line = readFileSync(headFile(home), 'utf8').split('\n')[0] ?? ''
  if (line === '') return undefined
  const [size, leaf, check] = line.split(' ')
  const head = { size: Number(size), leaf: leaf ?? '' }
  return check !== undefined && headLine(head) === line ? head : 'unreadable'
}

/** Every checkpoint note that was put outside, oldest first. A torn last line is left out. */
export function readCheckpoints(home: string): readonly string[] {
  if (!existsSync(checkpointsFile(home))) return []
  const notes: string[] = []
  for (const line of readFileSync(checkpointsFile(home), 'utf8').split('\n')) {
    try {
      notes.push((JSON.parse(line) as { note: string }).note)
    } catch {
      continue
    }
  }
  return notes
}
