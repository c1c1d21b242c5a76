import { hash, verify } from 'node:crypto'
import type { CheckpointText } from './judgement.ts'
import type { PublicKey } from './keys.ts'

// Signed note of C2SP (signed-note, tlog-checkpoint): a text, an empty line, one signature line.
const SHAPE =
  /^(countersign\/([0-9a-z]+))\n(0|[1-9]\d{0,14})\n([A-Za-z0-9+/]{43}=)\n\n\u2014 countersign\/([0-9a-z]+) ([A-Za-z0-9+/]{91}=)\n$/
const ED25519 = 1

function noteHash(name: string, key: PublicKey): Buffer {
  const id = Buffer.concat([Buffer.from(`${name}\n`, 'utf8'), Buffer.from([ED25519]), Buffer.from(key.raw, 'hex')])
  return Buffer.from(hash('sha256', id, 'hex'), 'hex').subarray(0, 4)
}

/** The checkpoint of a note that one of these keys signed, else what is wrong with it. */
export function openNote(
  note: string,
  keys: readonly PublicKey[],
): { readonly checkpoint: CheckpointText; readonly key: PublicKey } | { readonly wrong: string } {
  const [, origin, ledger, size, root, signer, signature] = SHAPE.exec(note) ?? []
  if (origin === undefined || ledger !== signer) return { wrong: 'it is not a checkpoint of Countersign' }
  const rootBytes = strictBase64(root!)
  const signed = strictBase64(signature!)
  if (rootBytes === undefined || signed === undefined) return { wrong: 'it is not a checkpoint of Countersign' }
  const key = keys.find((it) => noteHash(origin, it).equals(signed.subarray(0, 4)))
  if (key === undefined) return { wrong: 'it is signed by another key' }
  const text = note.slice(0, note.indexOf('\n\n') + 1)
  if (!verify(null, Buffer.from(text, 'utf8'), key.object, signed.subarray(4)))
    return { wrong: 'its signature does not fit it' }
  return { checkpoint: { ledger: ledger!, size: Number(size), root: rootBytes.toString('hex') }, key }
}

/** Base 64 has spare bits before its padding; a text with others than zeros there is not what was written. */
export function strictBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}
