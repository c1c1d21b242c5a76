import { Growing } from './growing.ts'

const LINE_FEED = 0x0a
const CARRIAGE_RETURN = 0x0d
const COLON = 0x3a
const SPACE = 0x20
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])

export interface SseEvent {
  /** `message` where the stream names none. */
  readonly type: string
  readonly data: Buffer
  /** The `id` field, where the event has one. */
  readonly id: string | undefined
}

export interface SseSink {
  event(event: SseEvent): void
  /** An event passed the limit and is thrown away up to its end. */
  oversize(): void
  /** From where, and in how many milliseconds, the stream could be taken up again, where it says so. */
  position?(id: string | undefined, retryMs: number | undefined): void
}

/** Reads a `text/event-stream` (HTML standard, "Server-sent events") as it comes. An event that is not ended is no event. */
export class SseReader {
  readonly #sink: SseSink
  readonly #limit: number
  /** A line that has not ended yet. */
  readonly #begun: Growing
  /** Data of the event so far, where it has several lines. */
  readonly #joined: Growing
  #data: Buffer | undefined
  #type = ''
  #id: string | undefined
  #retryMs: number | undefined
  #skipsLine = false
  #skipsEvent = false
  #afterReturn = false
  #first = true

  constructor(limit: number, sink: SseSink) {
    this.#sink = sink
    this.#limit = limit
    this.#begun = new Growing(limit)
    this.#joined = new Growing(limit)
  }

  push(chunk: Buffer): void {
    let from = 0
    if (this.#afterReturn && chunk.length > 0) {
      this.#afterReturn = false
      if (chunk[0] === LINE_FEED) from = 1
    }
    let feed = chunk.indexOf(LINE_FEED, from)
    let carriage = chunk.indexOf(CARRIAGE_RETURN, from)
    while (feed !== -1 || carriage !== -1) {
      const at = carriage === -1 || (feed !== -1 && feed < carriage) ? feed : carriage
      this.#endLine(chunk.subarray(from, at))
      from = at + 1
      if (at === carriage) {
        if (from === chunk.length) this.#afterReturn = true
        else if (feed === from) from++
        carriage = chunk.indexOf(CARRIAGE_RETURN, from)
      }
      if (feed !== -1 && feed < from) feed = chunk.indexOf(LINE_FEED, from)
    }
    if (from < chunk.length && !this.#skipsLine && !this.#begun.add(chunk.subarray(from))) {
      this.#begun.clear()
      this.#skipsLine = true
      this.#overflow()
    }
  }

  #endLine(rest: Buffer): void {
    if (this.#skipsLine) {
      this.#skipsLine = false
      return
    }
    let line = rest
    if (this.#begun.length > 0) {
      if (!this.#begun.add(rest)) {
        this.#begun.clear()
        this.#overflow()
        return
      }
      line = this.#begun.take()
    }
    if (this.#first) {
      this.#first = false
      if (line.subarray(0, 3).equals(BYTE_ORDER_MARK)) line = line.subarray(3)
    }
    if (line.length === 0) this.#endEvent()
    else if (!this.#skipsEvent) this.#field(line)
  }

  #field(line: Buffer): void {
    const colon = line.indexOf(COLON)
    if (colon === 0) return
    const name = line.toString('latin1', 0, colon === -1 ? line.length : colon)
    const from = colon === -1 ? line.length : line[colon + 1] === SPACE ? colon + 2 : colon + 1
    if (name === 'data') this.#addData(line.subarray(from))
    else if (name === 'event') this.#type = line.toString('utf8', from)
    else if (name === 'id' && !line.includes(0, from)) this.#id = line.toString('utf8', from)
    else if (name === 'retry') {
      const text = line.toString('latin1', from)
      if (/^\d{1,9}$/.test(text)) this.#retryMs = Number(text)
    }
  }

  #addData(piece: Buffer): void {
    if (this.#data === undefined) {
      if (piece.length > this.#limit) this.#overflow()
      else this.#data = piece
      return
    }
    if (this.#joined.length === 0 && !this.#joined.add(this.#data)) this.#overflow()
    else if (!this.#joined.add(Buffer.from('\n')) || !this.#joined.add(piece)) this.#overflow()
  }

  #overflow(): void {
    if (!this.#skipsEvent) this.#sink.oversize()
    this.#skipsEvent = true
    this.#data = undefined
    this.#joined.clear()
  }

  #endEvent(): void {
    const data = this.#joined.length > 0 ? this.#joined.take() : this.#data
    const event = { type: this.#type === '' ? 'message' : this.#type, data, id: this.#id }
    this.#data = undefined
    this.#type = ''
    this.#id = undefined
    if (event.id !== undefined || this.#retryMs !== undefined) this.#sink.position?.(event.id, this.#retryMs)
    this.#retryMs = undefined
    this.#skipsEvent = false
    if (event.data !== undefined) this.#sink.event({ ...event, data: event.data })
  }
}
