import { createHmac } from 'node:crypto'
import { type Header, objectOf } from './header.ts'
import { type CheckpointText, tampered } from './judgement.ts'
import { KeyLine, type PublicKey } from './keys.ts'
import { openNote, strictBase64 } from './note.ts'
import { isConsistent, leafHash, rootFromInclusion, Tree } from './tree.ts'

const NO_LEAF = '0'.repeat(64)

interface LastRecord {
  readonly seq: number
  readonly leaf: string
  readonly commitments: { readonly [role: string]: unknown }
  proved: boolean
}

/** Takes the lines between the header and the end, and throws a Found at the first that does not fit. */
export class Reader {
  readonly keys: KeyLine
  readonly checkpoint: CheckpointText
  readonly signer: PublicKey
  records = 0
  payloads = 0
  erased = 0
  /** Earlier checkpoints that are the beginning of this one, by their size. */
  readonly earlier = new Map<number, string>()
  readonly #header: Header
  readonly #anchors: ReadonlyMap<number, string>
  readonly #tree = new Tree()
  #last: LastRecord | undefined

  constructor(header: Header, anchors: ReadonlyMap<number, string>) {
    this.#header = header
    this.#anchors = anchors
    this.keys = new KeyLine(header.ledger, header.keys)
    const opened = openNote(header.checkpoint, header.keys)
    if ('wrong' in opened) throw tampered(`checkpoint: ${opened.wrong}`)
    if (opened.checkpoint.ledger !== header.ledger) throw tampered('the checkpoint is of another ledger')
    if (opened.key.raw !== this.keys.newest.raw) throw tampered('the checkpoint is not signed by the newest key')
    this.checkpoint = opened.checkpoint
    this.signer = opened.key
  }

  get nextSeq(): number {
    return this.#last === undefined ? 0 : this.#last.seq + 1
  }

  read(text: string): void {
    if (text.startsWith('{"v":1,')) this.#record(text)
    else {
      const line = objectOf(text)
      switch (line?.['line']) {
        case 'proof':
          return this.#proof(line)
        case 'payload':
          return this.#payload(line)
        case 'consistency':
          return this.#consistency(line)
        default:
          throw tampered(`after record ${this.nextSeq - 1} there is a line of no known kind`)
      }
    }
  }

  #record(text: string): void {
    this.#assertProved()
    const record = objectOf(text)
    if (record === undefined) throw tampered(`record ${this.nextSeq} is not JSON`)
    const { seq, prev, ledger, kind, facts, commitments } = record
    const whole = this.#header.filter === null
    if (typeof seq !== 'number' || !Number.isSafeInteger(seq) || (whole ? seq !== this.nextSeq : seq < this.nextSeq))
      throw tampered(`record ${this.nextSeq} says that it is number ${JSON.stringify(seq)}`)
    if (ledger !== this.#header.ledger) throw tampered(`record ${seq} is of another ledger`)
    const before = seq === 0 ? NO_LEAF : this.#last?.seq === seq - 1 ? this.#last.leaf : undefined
    if (before !== undefined && prev !== before)
      throw tampered(`record ${seq} does not follow from the record before it: one of the two is not what was written`)
    const leaf = leafHash(text)
    if (whole) {
      this.#tree.add(leaf)
      this.#meet(this.#tree.size, () => this.#tree.root())
    }
    if (kind === 'ledger.key') {
      const wrong = this.keys.read(facts)
      if (wrong !== undefined) throw tampered(`record ${seq}: ${wrong}`)
    }
    this.records++
    this.#last = { seq, leaf, commitments: (commitments ?? {}) as LastRecord['commitments'], proved: whole }
  }

  #proof({ seq, path }: Record<string, unknown>): void {
    const last = this.#last
    if (last === undefined || last.proved || seq !== last.seq) throw tampered('a proof stands at no record')
    const root = rootFromInclusion(last.leaf, last.seq, this.checkpoint.size, hashes(path))
    if (root !== this.checkpoint.root) throw tampered(`record ${last.seq} is not in the tree that was signed`)
    last.proved = true
  }

  #payload({ seq, role, salt, body, erased }: Record<string, unknown>): void {
    const last = this.#last
    const committed = typeof role === 'string' ? last?.commitments[role] : undefined
    if (last === undefined || seq !== last.seq || committed === undefined)
      throw tampered('a payload stands at no record that commits to it')
    if (erased === true) {
      this.erased++
      return
    }
    const bytes = typeof body === 'string' ? strictBase64(body) : undefined
    if (bytes === undefined || typeof salt !== 'string' || !/^[0-9a-f]{64}$/.test(salt))
      throw tampered(`the ${String(role)} of record ${last.seq} cannot be read`)
    if (createHmac('sha256', Buffer.from(salt, 'hex')).update(bytes).digest('hex') !== committed)
      throw tampered(`the ${String(role)} of record ${last.seq} are not what was committed to`)
    this.payloads++
  }

  #consistency({ checkpoint, path }: Record<string, unknown>): void {
    const opened = openNote(String(checkpoint), this.#header.keys)
    if ('wrong' in opened) throw tampered(`an earlier checkpoint: ${opened.wrong}`)
    const { size, root } = opened.checkpoint
    if (!isConsistent(opened.checkpoint, this.checkpoint, hashes(path)))
      throw tampered(`the checkpoint of ${size} records is not the beginning of this one`)
    this.#meet(size, () => root)
  }

  #meet(size: number, root: () => string): void {
    const anchored = this.#anchors.get(size)
    if (anchored === undefined) return
    if (anchored !== root()) throw tampered(`the anchored checkpoint of ${size} records was made over other records`)
    this.earlier.set(size, anchored)
  }

  #assertProved(): void {
    if (this.#last?.proved === false) throw tampered(`record ${this.#last.seq} has no proof`)
  }

  /** After the last line: does what was read come to what was signed? */
  finish(): void {
    this.#assertProved()
    const { size, root } = this.checkpoint
    if (this.#header.filter === null && (this.#tree.size !== size || this.#tree.root() !== root))
      throw tampered('the checkpoint was signed over other records')
    if (!this.keys.told) throw tampered('the list of keys has one that no record hands on')
    this.#meet(size, () => root)
  }
}

function hashes(path: unknown): readonly string[] {
  if (!Array.isArray(path) || path.some((it) => typeof it !== 'string' || !/^[0-9a-f]{64}$/.test(it)))
    throw tampered('a proof cannot be read')
  return path as string[]
}
