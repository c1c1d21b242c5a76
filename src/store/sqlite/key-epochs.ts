import type { KeyObject } from 'node:crypto'
import { type EvidenceRecord, fingerprint, rawKey, signSuccession } from '../../flow/evidence/index.ts'
import type { Chain } from './chain.ts'
import type { Database, Row } from './database.ts'
import { dropStagedKey, epochsOf, signingKey, stagedKey, stageKey, takeKey } from './signing-keys.ts'
import type { Writer } from './writer.ts'

/** The keys of one ledger by epoch, and the private half of the newest. */
export interface KeyEpochs {
  readonly key: KeyObject
  /** 32 bytes of each public key, in hex; the first is of epoch 1. */
  readonly epochs: readonly string[]
}

/**
 * The keys as they stand at a start: made where the home is new, taken where a hand-over was on record and the process
 * ended before the files were in place, and begun anew, on the record, where the private key was lost.
 */
export function settleKeys(home: string, db: Database, chain: Chain, valid: boolean): KeyEpochs {
  const epochs = epochsOf(home)
  const key = signingKey(home)
  const handedTo = lastHandedTo(db)
  if (key !== undefined) {
    const staged = stagedKey(home)
    if (staged === undefined || rawKey(staged) !== handedTo) {
      dropStagedKey(home)
      return { key, epochs }
    }
    return take(home, staged, epochs)
  }
  const fresh = stagedKey(home) ?? stageKey(home)
  if (epochs.length > 0 && !valid) return { key: fresh, epochs }
  if (epochs.length > 0 && handedTo !== rawKey(fresh)) noteLostKey(db, chain, epochs.length + 1, rawKey(fresh))
  return take(home, fresh, epochs)
}

function take(home: string, key: KeyObject, before: readonly string[]): KeyEpochs {
  const epochs = [...before, rawKey(key)]
  takeKey(home, epochs)
  return { key, epochs }
}

function lastHandedTo(db: Database): unknown {
  const row = db.statement("SELECT record FROM event WHERE kind = 'ledger.key' ORDER BY seq DESC LIMIT 1").get() as
    | Row
    | undefined
  return row && (JSON.parse(String(row['record'])) as EvidenceRecord).facts?.['publicKey']
}

/** The private key is gone: a new one begins an epoch that no older key vouches for, and the record says so. */
function noteLostKey(db: Database, chain: Chain, epoch: number, publicKey: string): void {
  const facts = { epoch, publicKey, id: fingerprint(publicKey), broken: true, why: 'the private key was lost' }
  db.synchronise(true)
  db.exec('BEGIN IMMEDIATE')
  chain.append(db, { kind: 'ledger.key', at: Date.now(), facts })
  db.exec('COMMIT')
}

/** Makes the next key, has the one before sign it, puts that on record, and forgets the one before. */
export async function rotate(home: string, writer: Writer, ledger: string, before: KeyEpochs): Promise<KeyEpochs> {
  const next = stageKey(home)
  const publicKey = rawKey(next)
  const epoch = before.epochs.length + 1
  const signature = signSuccession(ledger, epoch, publicKey, before.key)
  const facts = { epoch, publicKey, id: fingerprint(publicKey), signature }
  await writer.write({
    durability: 'synced',
    weight: 'proposal',
    run: (db, chain) => chain.append(db, { kind: 'ledger.key', at: Date.now(), facts }),
  })
  writer.useKey(next)
  return take(home, next, before.epochs)
}
