import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Stands in every file outside the notes folder; no answer may ever hold it. */
export const canary = 'CANARY-5d1f0c'

/** A temporary notes folder `inside` with a secret beside it, removed with all it holds when disposed of. */
export class Plot implements Disposable {
  readonly base: string
  readonly inside: string
  readonly outside: string

  constructor() {
    this.base = mkdtempSync(join(tmpdir(), 'notes-'))
    this.inside = join(this.base, 'inside')
    this.outside = join(this.base, 'outside')
    mkdirSync(this.inside)
    mkdirSync(join(this.outside, 'deeper'), { recursive: true })
    writeFileSync(join(this.outside, 'secret.md'), `${canary}\n`)
    writeFileSync(join(this.outside, 'deeper', 'secret.md'), `${canary}\n`)
  }

  /** Makes a new note below `inside`, with the folders on its way, and gives its absolute path. Never writes through a link or pipe. */
  write(path: string, content: string | Uint8Array): string {
    const whole = join(this.inside, path)
    mkdirSync(dirname(whole), { recursive: true })
    writeFileSync(whole, content, { flag: 'wx' })
    return whole
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true })
  }
}

/** Permissions do not bind root, so a test in which they must bind lends itself the user nobody for a while. Gives undefined where that is not possible. */
export async function withoutPrivilege<Value>(work: () => Promise<Value>): Promise<Value | undefined> {
  if (process.geteuid?.() !== 0) return work()
  try {
    process.seteuid?.(65_534)
  } catch {
    return undefined
  }
  try {
    return await work()
  } finally {
    process.seteuid?.(0)
  }
}
