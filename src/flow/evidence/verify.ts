import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { createPublicKey, type KeyObject } from 'node:crypto'
import { type Checkpoint, fingerprint, openCheckpoint } from './checkpoint.ts'
import { Frontier } from './merkle.ts'
import { firstPrev, leafOf } from './record.ts'

/**
 * valid · tampered (something does not fit what was signed or chained) · incomplete (all that is there fits, but not all
 * is there) · unjudgeable (unknown format, version or key).
 */
export interface Judgement {
  readonly verdict: 'valid' | 'tampered' | 'incomplete' | 'unjudgeable'
  readonly records: number
  /** seq of the first record that does not fit. */
  readonly firstBad?: number
  readonly why: readonly string[]
  readonly key?: string
  readonly checkpoint?: Checkpoint
}

/** Feeds record lines, in order, and tells the first that breaks the chain. Needs no database and no network. */
export class ChainReader {
  readonly frontier = new Frontier()
  #prev = firstPrev
  #ledger: string | undefined

  get size(): number {
    return this.frontier.size
  }
  get head(): string {
    return this.#prev
  }

  /** Answers undefined when the line is the next record, else what is wrong with it. */
  read(line: string): string | undefined {
    const seq = this.frontier.size
    let record: { v?: unknown; ledger?: unknown; seq?: unknown; prev?: unknown }
    try {
      record = JSON.parse(line) as typeof record
    } catch {
      return `record ${seq} is not JSON`
    }
    if (record.v !== 1) return `record ${seq} has version ${String(record.v)}`
    if (record.seq !== seq) return `record ${seq} says that it is number ${String(record.seq)}`
    if (record.prev !== this.#prev)
      return `record ${seq} does not follow from the record before it: one of the two is not what was written`
    this.#ledger ??= String(record.ledger)
    if (record.ledger !== this.#ledger) return `record ${seq} is of another ledger`
    this.#prev = leafOf(line)
    this.frontier.append(this.#prev)
    return undefined
  }
}

export const exportFormat = 'countersign-evidence/1'

export interface ExportHeader {
  readonly format: typeof exportFormat
  readonly ledger: string
  /** SubjectPublicKeyInfo, PEM. */
  readonly publicKey: string
  readonly exportedAt: number
}
export interface ExportTrailer {
  readonly records: number
  readonly checkpoint: string
}

/**
 * Judges an export file by itself. `trusted` is a public key (PEM) that the reader already has; without it the key in
 * the file is used, and whoever reads the judgement has to compare its fingerprint.
 */
export async function verifyExport(path: string, trusted?: string): Promise<Judgement> {
  const lines = createInterface({ input: createReadStream(path, 'utf8'), crlfDelay: Infinity })
  const chain = new ChainReader()
  let key: KeyObject | undefined
  let trailer: ExportTrailer | undefined
  let number = 0
  for await (const line of lines) {
    number++
    if (number === 1) {
      const opened = openHeader(line, trusted)
      if ('wrong' in opened) return { verdict: 'unjudgeable', records: 0, why: [opened.wrong] }
      key = opened.key
      continue
    }
    if (trailer !== undefined) {
      if (line !== '') return tampered(chain, key, 'there is text after the last line')
      continue
    }
    if (line.startsWith('{"records":')) {
      trailer = parseTrailer(line)
      if (trailer === undefined) return tampered(chain, key, 'the last line cannot be read')
      continue
    }
    const wrong = chain.read(line)
    if (wrong !== undefined) return tampered(chain, key, wrong)
  }
  if (key === undefined) return { verdict: 'unjudgeable', records: 0, why: ['the file is empty'] }
  const found = { records: chain.size, key: fingerprint(key) }
  if (trailer === undefined)
    return { verdict: 'incomplete', ...found, why: ['the last line, with the count and the checkpoint, is missing'] }
  if (trailer.records !== chain.size)
    return tampered(chain, key, `the last line counts ${trailer.records} records, and there are ${chain.size}`)
  const checkpoint = openCheckpoint(trailer.checkpoint, key)
  if ('wrong' in checkpoint) return tampered(chain, key, `checkpoint: ${checkpoint.wrong}`)
  if (checkpoint.size !== chain.size || checkpoint.root !== chain.frontier.root())
    return tampered(chain, key, 'the checkpoint was signed over other records')
  return { verdict: 'valid', ...found, why: [], checkpoint }
}

function tampered(chain: ChainReader, key: KeyObject | undefined, why: string): Judgement {
  return {
    verdict: 'tampered',
    records: chain.size,
    firstBad: chain.size,
    why: [why],
    ...(key === undefined ? {} : { key: fingerprint(key) }),
  }
}

function openHeader(line: string, trusted: string | undefined): { key: KeyObject } | { wrong: string } {
  try {
    const header = JSON.parse(line) as Partial<ExportHeader>
    if (header.format !== exportFormat) return { wrong: `not an export of format ${exportFormat}` }
    return { key: createPublicKey(trusted ?? String(header.publicKey)) }
  } catch {
    return { wrong: 'the first line is not the header of an export' }
  }
}

function parseTrailer(line: string): ExportTrailer | undefined {
  try {
    const trailer = JSON.parse(line) as Partial<ExportTrailer>
    return typeof trailer.records === 'number' && typeof trailer.checkpoint === 'string'
      ? { records: trailer.records, checkpoint: trailer.checkpoint }
      : undefined
  } catch {
    return undefined
  }
}
