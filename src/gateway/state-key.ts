import { randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** What clients carry for us between two requests is sealed with it. */
export function stateKey(home: string): Uint8Array {
  return homeKey(home, 'state.key')
}

/** 32 bytes that only this home has, in a file of mode 0600. Made once. */
export function homeKey(home: string, name: 'state.key' | 'tokens.key'): Uint8Array {
  const file = join(home, 'keys', name)
  if (!existsSync(file)) {
    mkdirSync(join(home, 'keys'), { recursive: true, mode: 0o700 })
    const descriptor = openSync(file, 'wx', 0o600)
    writeSync(descriptor, randomBytes(32).toString('hex'))
    fsyncSync(descriptor)
    closeSync(descriptor)
  }
  const key = Buffer.from(readFileSync(file, 'utf8').trim(), 'hex')
  if (key.length !== 32) throw new Error(`${file} is not a key; delete it and start again`)
  return key
}
