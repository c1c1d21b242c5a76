import { connect, type Socket } from 'node:net'

export interface HttpReply {
  readonly status: number
  /** Status line and headers as they came. */
  readonly head: string
  readonly body: Buffer
}

/** One HTTP/1.1 connection that is kept open, for one request at a time. No client costs less than a bare socket. */
export class Connection {
  readonly #url: URL
  #socket: Socket | undefined
  #unread: Buffer = Buffer.alloc(0)
  #settle: ((reply: HttpReply | Error) => void) | undefined

  constructor(url: URL) {
    this.#url = url
  }

  /** `headers` are whole lines. */
  request(method: string, path: string, headers: string, body: string, timeoutMs: number): Promise<HttpReply> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#end(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      this.#settle = (reply) => {
        clearTimeout(timer)
        this.#settle = undefined
        if (reply instanceof Error) reject(reply)
        else resolve(reply)
      }
      const head = `${method} ${path} HTTP/1.1\r\nhost: ${this.#url.host}\r\n${headers}`
      this.#open().write(`${head}content-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
    })
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = undefined
  }

  #open(): Socket {
    if (this.#socket !== undefined) return this.#socket
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true })
    this.#unread = Buffer.alloc(0)
    socket.on('error', (fault) => this.#end(fault))
    socket.on('close', () => this.#socket === socket && this.#end(new Error('the connection was closed')))
    socket.on('data', (data) => {
      this.#unread = this.#unread.length === 0 ? data : Buffer.concat([this.#unread, data])
      const reply = replyIn(this.#unread)
      if (reply === undefined) return
      this.#unread = Buffer.alloc(0)
      if (/\r\nconnection: *close/i.test(reply.head)) this.close()
      this.#settle?.(reply)
    })
    return (this.#socket = socket)
  }

  #end(fault: Error): void {
    this.close()
    this.#settle?.(fault)
  }
}

/** The reply that those bytes are; undefined while some are missing. */
function replyIn(bytes: Buffer): HttpReply | undefined {
  const at = bytes.indexOf('\r\n\r\n')
  if (at < 0) return undefined
  const head = bytes.toString('latin1', 0, at)
  const chunked = /\r\ntransfer-encoding: *chunked/i.test(head)
  const length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  const rest = bytes.subarray(at + 4)
  const body = chunked ? unchunked(rest) : rest.length < length ? undefined : rest
  return body && { status: Number(head.slice(9, 12)), head, body }
}

function unchunked(bytes: Buffer): Buffer | undefined {
  const chunks: Buffer[] = []
  for (let start = 0; ;) {
    const line = bytes.indexOf('\r\n', start)
    const size = Number.parseInt(bytes.toString('latin1', start, line), 16)
    const end = line + 2 + size
    if (line < 0 || bytes.length < end + 2) return undefined
    if (size === 0) return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks)
    chunks.push(bytes.subarray(line + 2, end))
    start = end + 2
  }
}

/** What stands at either end, where the id and the marks of an error are. */
export function endsOf(message: Buffer): string {
  if (message.length < 600) return message.toString('latin1')
  return message.toString('latin1', 0, 300) + message.toString('latin1', message.length - 300)
}
