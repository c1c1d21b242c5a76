import { readFile } from 'node:fs/promises'
import { format, type Header, objectOf, readHeader } from './header.ts'
import { Found, type Judgement, tampered } from './judgement.ts'
import { keyOfPem, signedBy } from './keys.ts'
import { linesOf } from './lines.ts'
import { openNote } from './note.ts'
import { Reader } from './reader.ts'

export interface Trust {
  /** Public key (PEM) that the reader has from elsewhere: the newest one, or one whose records lead to it. */
  readonly key?: string
  /** File of checkpoints that were put elsewhere, one JSON object with a `note` a line: what was said then has to hold. */
  readonly anchors?: string
}

/**
 * Judges an export file by itself: no database, no network, and none of the code that wrote it. Without a trusted key the
 * keys in the file are used, and whoever reads the judgement has to compare the fingerprint.
 */
export async function verifyExport(path: string, trust: Trust | string = {}): Promise<Judgement> {
  const { key, anchors }: Trust = typeof trust === 'string' ? { key: trust } : trust
  let reader: Reader | undefined
  try {
    let anchored: ReadonlyMap<number, string> = new Map()
    let ended = false
    let filter: object | null = null
    let ledger = ''
    let count = 0
    for await (const { text, before } of linesOf(path)) {
      if (ended) throw tampered('there is text after the last line')
      if (reader === undefined) {
        const header = readHeader(text)
        ;({ filter, ledger } = header)
        if (anchors !== undefined) anchored = anchoredOf(await notesOf(anchors), header)
        reader = new Reader(header, anchored)
        assertTrusted(key, header.keys)
      } else if (text.startsWith('{"line":"end"')) {
        assertEnd(text, { ledger, lines: count, reader, sha256: before() })
        ended = true
      } else reader.read(text)
      count++
    }
    if (reader === undefined) throw new Found('unjudgeable', 'the file is empty')
    if (!ended) throw new Found('incomplete', 'the last line, with the count and the signature, is missing')
    return conclude(reader, filter, key, anchored)
  } catch (fault) {
    if (!(fault instanceof Found)) throw fault
    return {
      verdict: fault.verdict,
      records: reader?.records ?? 0,
      ...(fault.verdict === 'tampered' ? { firstBad: reader?.nextSeq ?? 0 } : {}),
      why: [fault.message],
      ...(reader === undefined ? {} : { key: reader.signer.id }),
    }
  }
}

function conclude(
  reader: Reader,
  filter: object | null,
  key: string | undefined,
  anchors: ReadonlyMap<number, string>,
): Judgement {
  const { checkpoint, signer, records, payloads, erased, earlier } = reader
  if (key === undefined ? reader.keys.brokenAt !== undefined : !reader.keys.reaches(keyOfPem(key)))
    throw new Found(
      'unjudgeable',
      `a key was lost, and the one of epoch ${reader.keys.brokenAt ?? 1} is vouched for by none before it: name the newest with --key`,
    )
  const why: string[] = []
  if (filter !== null)
    why.push(`a filter left out ${checkpoint.size - records} of ${checkpoint.size} records: ${JSON.stringify(filter)}`)
  if (erased > 0) why.push(`${erased} payloads were erased`)
  for (const size of anchors.keys())
    if (size > checkpoint.size) why.push(`${size} records were anchored, and this export ends at ${checkpoint.size}`)
    else if (!earlier.has(size)) why.push(`nothing here proves the anchored checkpoint of ${size} records`)
  return {
    verdict: why.length === 0 ? 'valid' : 'incomplete',
    records,
    why,
    key: signer.id,
    checkpoint,
    ...(payloads === 0 ? {} : { payloads }),
    ...(erased === 0 ? {} : { erased }),
  }
}

function assertTrusted(pem: string | undefined, keys: readonly { readonly raw: string }[]): void {
  if (pem === undefined) return
  let raw: string
  try {
    ;({ raw } = keyOfPem(pem))
  } catch {
    throw new Found('unjudgeable', 'what was named as a trusted key is not an Ed25519 public key in PEM')
  }
  if (!keys.some((key) => key.raw === raw))
    throw new Found('unjudgeable', 'signed by a key that is not the one you trust, nor leads to it')
}

/** The last line counts and signs every byte before it. It has one spelling. */
function assertEnd(
  text: string,
  { ledger, lines, reader, sha256 }: { ledger: string; lines: number; reader: Reader; sha256: string },
): void {
  reader.finish()
  const { signature } = objectOf(text) ?? {}
  const wanted = JSON.stringify({ line: 'end', lines, records: reader.records, sha256, signature: String(signature) })
  if (text !== wanted) throw tampered('the last line counts or digests another file')
  if (!signedBy(reader.signer, endText(ledger, lines, reader.records, sha256), String(signature)))
    throw tampered('the signature of the last line does not fit')
}

export function endText(ledger: string, lines: number, records: number, sha256: string): string {
  return `${format}\n${ledger}\n${lines} ${records}\n${sha256}\n`
}

async function notesOf(file: string): Promise<readonly string[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line !== '')
  return lines.map((line) => {
    const note = objectOf(line)?.['note']
    if (typeof note !== 'string') throw new Found('unjudgeable', 'the file of anchors has a line that is no checkpoint')
    return note
  })
}

/** Of these checkpoints the ones of that ledger, by size. One that none of its keys signed is nobody's word. */
function anchoredOf(
  notes: readonly string[],
  { ledger, keys }: Pick<Header, 'ledger' | 'keys'>,
): ReadonlyMap<number, string> {
  const bySize = new Map<number, string>()
  for (const note of notes) {
    const opened = openNote(note, keys)
    if ('wrong' in opened || opened.checkpoint.ledger !== ledger) continue
    const { size, root } = opened.checkpoint
    if ((bySize.get(size) ?? root) !== root) throw tampered(`two histories of ${size} records were signed`)
    bySize.set(size, root)
  }
  return bySize
}
