import { hash, type KeyObject, sign, verify } from 'node:crypto'
import { rawKey } from './keys.ts'

/** What a checkpoint states: that the first `size` records of this ledger have this Merkle root. */
export interface Checkpoint {
  readonly ledger: string
  readonly size: number
  /** hex */
  readonly root: string
}

// Signed note of C2SP (signed-note, tlog-checkpoint): a text, an empty line, one signature line per key.
const DASH = '\u2014'
const ED25519 = 1

function textOf(checkpoint: Checkpoint): string {
  return `countersign/${checkpoint.ledger}\n${checkpoint.size}\n${Buffer.from(checkpoint.root, 'hex').toString('base64')}\n`
}

function keyHash(name: string, key: KeyObject): Buffer {
  const id = Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), Buffer.from([ED25519]), Buffer.from(rawKey(key), 'hex')])
  return Buffer.from(hash('sha256', id, 'hex'), 'hex').subarray(0, 4)
}

export function signCheckpoint(checkpoint: Checkpoint, privateKey: KeyObject): string {
  const text = textOf(checkpoint)
  const name = `countersign/${checkpoint.ledger}`
  const signature = Buffer.concat([
    keyHash(name, privateKey),
    sign(null, Buffer.from(text, 'utf8'), privateKey),
  ]).toString('base64')
  return `${text}\n${DASH} ${name} ${signature}\n`
}

/** The checkpoint of a note that one of these keys signed, written as we write it, else the reason why not. */
export function openCheckpoint(note: string, keys: readonly KeyObject[]): Checkpoint | { readonly wrong: string } {
  const [origin = '', size = '', root = '', , signature = ''] = note.split('\n')
  const checkpoint = {
    ledger: origin.slice('countersign/'.length),
    size: Number(size),
    root: Buffer.from(root, 'base64').toString('hex'),
  }
  const text = textOf(checkpoint)
  const signed = Buffer.from(signature.split(' ')[2] ?? '', 'base64')
  // One spelling only: base 64 has spare bits, and a note that uses them is not what was written.
  if (note !== `${text}\n${DASH} ${origin} ${signed.toString('base64')}\n`) return { wrong: 'not a signed checkpoint' }
  const key = keys.find((it) => keyHash(origin, it).equals(signed.subarray(0, 4)))
  if (key === undefined) return { wrong: 'signed by another key' }
  return verify(null, Buffer.from(text, 'utf8'), key, signed.subarray(4))
    ? checkpoint
    : { wrong: 'the signature does not fit the checkpoint' }
}
