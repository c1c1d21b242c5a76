import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { rawKey } from '../../flow/evidence/index.ts'
import { replaceSynced, syncFolder, writeSynced } from '../synced-files.ts'

const nameOf = (home: string, name: string): string => join(home, 'keys', name)

/** The key that signs; undefined where there is none yet, or where it was lost. */
export function signingKey(home: string): KeyObject | undefined {
  const file = nameOf(home, 'evidence.pem')
  return existsSync(file) ? createPrivateKey(readFileSync(file, 'utf8')) : undefined
}

/** Public keys of every epoch, from the files alone. Empty where there is none. */
export function epochsOf(home: string): readonly string[] {
  const file = nameOf(home, 'evidence.epochs')
  if (existsSync(file)) return readFileSync(file, 'utf8').split('\n').filter(Boolean)
  const current = nameOf(home, 'evidence.pub.pem')
  return existsSync(current) ? [rawKey(createPublicKey(readFileSync(current, 'utf8')))] : []
}

/** Makes the next key and puts it where a start that follows a crash finds it. It signs nothing before `takeKey`. */
export function stageKey(home: string): KeyObject {
  mkdirSync(join(home, 'keys'), { recursive: true, mode: 0o700 })
  const { privateKey } = generateKeyPairSync('ed25519')
  const file = nameOf(home, 'evidence.next.pem')
  rmSync(file, { force: true })
  writeSynced(file, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(), 0o600)
  return privateKey
}

/** The staged key, where there is one. */
export function stagedKey(home: string): KeyObject | undefined {
  const file = nameOf(home, 'evidence.next.pem')
  return existsSync(file) ? createPrivateKey(readFileSync(file, 'utf8')) : undefined
}

export function dropStagedKey(home: string): void {
  rmSync(nameOf(home, 'evidence.next.pem'), { force: true })
}

/** The staged key becomes the one that signs; the one before it is gone. Its record has to be on disk by then. */
export function takeKey(home: string, epochs: readonly string[]): void {
  const staged = stagedKey(home)
  if (staged === undefined) return
  replaceSynced(nameOf(home, 'evidence.epochs'), `${epochs.join('\n')}\n`, 0o644)
  const publicPem = createPublicKey(staged).export({ type: 'spki', format: 'pem' }).toString()
  replaceSynced(nameOf(home, 'evidence.pub.pem'), publicPem, 0o644)
  renameSync(nameOf(home, 'evidence.next.pem'), nameOf(home, 'evidence.pem'))
  syncFolder(join(home, 'keys'))
}
