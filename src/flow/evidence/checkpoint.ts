import { createPublicKey, hash, type KeyObject, sign, verify } from 'node:crypto'

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

function rawKey(key: KeyObject): Buffer {
  return (key.type === 'private' ? createPublicKey(key) : key).export({ type: 'spki', format: 'der' }).subarray(-32)
}

function keyHash(name: string, key: KeyObject): Buffer {
  const id = Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), Buffer.from([ED25519]), rawKey(key)])
  return Buffer.from(hash('sha256', id, 'hex'), 'hex').subarray(0, 4)
}

/** SHA-256 of the raw public key, shortened: what a person compares. */
export function fingerprint(key: KeyObject): string {
  return hash('sha256', rawKey(key), 'hex').slice(0, 16)
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

/** The checkpoint of a note if one of its signatures is by that key, else the reason why not. */
export function openCheckpoint(note: string, publicKey: KeyObject): Checkpoint | { readonly wrong: string } {
  const end = note.indexOf('\n\n')
  if (end < 0) return { wrong: 'not a signed note' }
  const text = note.slice(0, end + 1)
  const [origin, size, root, ...more] = text.split('\n')
  if (!origin?.startsWith('countersign/') || !/^\d+$/.test(size ?? '') || root === undefined || more.length > 1)
    return { wrong: 'not a checkpoint of Countersign' }
  const checkpoint = {
    ledger: origin.slice('countersign/'.length),
    size: Number(size),
    root: Buffer.from(root, 'base64').toString('hex'),
  }
  const wanted = keyHash(origin, publicKey)
  for (const line of note.slice(end + 2).split('\n')) {
    const [dash, name, encoded] = line.split(' ')
    if (dash !== DASH || name !== origin || encoded === undefined) continue
    const bytes = Buffer.from(encoded, 'base64')
    if (!bytes.subarray(0, 4).equals(wanted)) continue
    if (verify(null, Buffer.from(text, 'utf8'), publicKey, bytes.subarray(4))) return checkpoint
    return { wrong: 'the signature does not fit the checkpoint' }
  }
  return { wrong: 'signed by another key' }
}
