import { createHmac, randomBytes } from 'node:crypto'
import {
  existsSync,
  fsyncSync,
  closeSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'
import { DataKey, type Subject, type Vault } from '../flow/evidence/index.ts'
import { syncFolder, writeSynced } from './synced-files.ts'

const DESTROYED = 'destroyed'
const KEPT = 4096

/**
 * Data keys as files of a home, one for each principal and generation, wrapped by a master key that lies beside them. A
 * key that was destroyed leaves its name, so that it is told from one that was lost.
 */
export class FileVault implements Vault {
  readonly #folder: string
  readonly #master: DataKey
  readonly #naming: Buffer
  readonly #open = new Map<string, DataKey>()
  readonly #current = new Map<string, DataKey>()

  private constructor(folder: string, master: Buffer) {
    this.#folder = folder
    this.#master = new DataKey('master', master)
    this.#naming = createHmac('sha256', master).update('names').digest()
  }

  /** The vault of a home; made where there is none. */
  static open(home: string): FileVault {
    const folder = join(home, 'keys', 'subjects')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const file = masterFile(home)
    // A new master key opens nothing that an old one wrapped.
    if (!existsSync(file) && readdirSync(folder).length > 0)
      throw new Error(`${file} is missing, and ${folder} holds keys that only it opens: put it back`)
    if (!existsSync(file)) writeSynced(file, `${randomBytes(32).toString('hex')}\n`, 0o600)
    return FileVault.at(home)
  }

  /** The vault of a home as it stands. Throws where its master key is missing. */
  static at(home: string): FileVault {
    const master = Buffer.from(readFileSync(masterFile(home), 'utf8').trim(), 'hex')
    if (master.length !== 32) throw new Error('keys/master.key is not a key')
    return new FileVault(join(home, 'keys', 'subjects'), master)
  }

  keyFor(subject: Subject): DataKey {
    const name = nameOf(subject)
    const known = this.#current.get(name)
    if (known !== undefined) return known
    const pseudonym = this.#pseudonymOf(name)
    const newest = this.#newestOf(pseudonym)
    const key =
      (newest > 0 ? this.key(`${pseudonym}.${newest}`) : undefined) ?? this.#make(`${pseudonym}.${newest + 1}`)
    if (this.#current.size >= KEPT) this.#current.clear()
    this.#current.set(name, key)
    return key
  }

  key(id: string): DataKey | undefined {
    const known = this.#open.get(id)
    if (known !== undefined) return known
    if (!/^[0-9a-f]{24}\.\d{1,9}$/.test(id)) throw new Error('not the name of a data key')
    const text = readFileSync(join(this.#folder, id), 'utf8').trim()
    if (text === DESTROYED) return undefined
    return this.#keep(new DataKey(id, this.#master.open(id, Buffer.from(text, 'hex'))))
  }

  retire(subject: Subject): readonly string[] {
    const name = nameOf(subject)
    const pseudonym = this.#pseudonymOf(name)
    const newest = this.#newestOf(pseudonym)
    const generations = Array.from({ length: newest }, (_, n) => `${pseudonym}.${n + 1}`)
    const live = generations.filter((id) => this.key(id) !== undefined)
    if (live.length > 0) this.#current.set(name, this.#make(`${pseudonym}.${newest + 1}`))
    return live
  }

  destroy(id: string): void {
    this.#open.delete(id)
    const file = join(this.#folder, id)
    if (!existsSync(file) || readFileSync(file, 'utf8').trim() === DESTROYED) return
    // Over the bytes that are there: a new file would leave them on the disk.
    const descriptor = openSync(file, 'r+')
    try {
      const length = readFileSync(descriptor).length
      writeSync(descriptor, Buffer.alloc(length), 0, length, 0)
      fsyncSync(descriptor)
      ftruncateSync(descriptor, 0)
      writeSync(descriptor, `${DESTROYED}\n`, 0)
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  }

  #make(id: string): DataKey {
    const key = randomBytes(32)
    writeSynced(join(this.#folder, id), `${Buffer.from(this.#master.seal(id, key)).toString('hex')}\n`, 0o600)
    syncFolder(this.#folder)
    return this.#keep(new DataKey(id, key))
  }

  #keep(key: DataKey): DataKey {
    if (this.#open.size >= KEPT) this.#open.clear()
    this.#open.set(key.id, key)
    return key
  }

  #pseudonymOf(name: string): string {
    return createHmac('sha256', this.#naming).update(name).digest('hex').slice(0, 24)
  }

  #newestOf(pseudonym: string): number {
    let newest = 0
    for (const file of readdirSync(this.#folder)) {
      const [of, generation] = file.split('.')
      if (of === pseudonym) newest = Math.max(newest, Number(generation))
    }
    return newest
  }
}

function masterFile(home: string): string {
  return join(home, 'keys', 'master.key')
}

function nameOf({ tenant, principal }: Subject): string {
  return JSON.stringify([tenant, principal])
}
