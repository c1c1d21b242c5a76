import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { type Kept, nothingKept, type Vault } from './kept.ts'

const VERSION = 1
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * One file for each principal and upstream, sealed with AES-256-GCM. Both names are bound into the seal: a file that is renamed
 * or copied over another's does not open. A file that does not open counts as nothing kept, so that the next login replaces it.
 */
export function sealedVault(
  folder: string,
  key: Uint8Array,
  owner: { readonly principal: string; readonly upstream: string },
): Vault {
  if (key.byteLength !== 32) throw new RangeError('the key for tokens has 32 bytes')
  const bound = JSON.stringify(['countersign tokens', VERSION, owner.principal, owner.upstream])
  const file = join(folder, `${createHash('sha256').update(bound).digest('hex').slice(0, 40)}.sealed`)
  return {
    read: () => {
      try {
        return open(readFileSync(file), key, bound)
      } catch {
        return nothingKept
      }
    },
    write: (kept) => {
      if (kept.tokens === undefined && Object.keys(kept.clients).length === 0) {
        rmSync(file, { force: true })
        return
      }
      mkdirSync(folder, { recursive: true, mode: 0o700 })
      const next = `${file}.${process.pid}.new`
      const descriptor = openSync(next, 'w', 0o600)
      try {
        writeSync(descriptor, seal(kept, key, bound))
        fsyncSync(descriptor)
      } finally {
        closeSync(descriptor)
      }
      renameSync(next, file)
    },
  }
}

function seal(kept: Kept, key: Uint8Array, bound: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(bound))
  const sealed = Buffer.concat([cipher.update(JSON.stringify(kept), 'utf8'), cipher.final()])
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed])
}

function open(sealed: Buffer, key: Uint8Array, bound: string): Kept {
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(bound))
    .setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES))
  const text = Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()])
  return JSON.parse(text.toString('utf8')) as Kept
}
