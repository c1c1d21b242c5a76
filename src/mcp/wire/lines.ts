import { Growing } from './growing.ts'

const NEWLINE = 0x0a
/** How much of both ends of a line that is too long is kept, to see whose it was. */
const ENDS = 512

export interface LineSink {
  /** One line without its newline. The bytes are the receiver's to keep. */
  line(bytes: Buffer): void
  /** A line passed the limit and was thrown away up to its newline. */
  oversize(line: { readonly head: Buffer; readonly tail: Buffer; readonly length: number }): void
}

/** Cuts a stream of bytes into lines; each byte is looked at once and copied at most twice, whatever the pieces are. */
export class LineReader {
  readonly #sink: LineSink
  readonly #limit: number
  readonly #begun: Growing
  #discarded: { head: Buffer; tail: Buffer; length: number } | undefined

  constructor(limit: number, sink: LineSink) {
    this.#limit = limit
    this.#sink = sink
    this.#begun = new Growing(limit)
  }

  push(chunk: Buffer): void {
    let from = 0
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, from)) {
      this.#finish(chunk.subarray(from, at))
      from = at + 1
    }
    if (from < chunk.length) this.#begin(chunk.subarray(from))
  }

  /** Bytes of a line whose newline never came. */
  get torn(): number {
    return this.#discarded?.length ?? this.#begun.length
  }

  #begin(piece: Buffer): void {
    const discarded = this.#discarded
    if (discarded !== undefined) {
      discarded.length += piece.length
      discarded.head = firstOf(discarded.head, piece)
      discarded.tail = lastOf(discarded.tail, piece)
    } else if (!this.#begun.add(piece)) {
      const begun = this.#begun.take()
      this.#discarded = {
        head: firstOf(Buffer.from(begun.subarray(0, ENDS)), piece),
        tail: lastOf(begun.subarray(-ENDS), piece),
        length: begun.length + piece.length,
      }
    }
  }

  #finish(rest: Buffer): void {
    if (this.#discarded === undefined && this.#begun.length === 0 && rest.length <= this.#limit) {
      this.#sink.line(rest)
      return
    }
    this.#begin(rest)
    const discarded = this.#discarded
    this.#discarded = undefined
    if (discarded === undefined) this.#sink.line(this.#begun.take())
    else this.#sink.oversize(discarded)
  }
}

function firstOf(before: Buffer, piece: Buffer): Buffer {
  return before.length === ENDS ? before : Buffer.concat([before, piece.subarray(0, ENDS - before.length)])
}

function lastOf(before: Buffer, piece: Buffer): Buffer {
  return piece.length >= ENDS ? Buffer.from(piece.subarray(-ENDS)) : Buffer.concat([before, piece]).subarray(-ENDS)
}
