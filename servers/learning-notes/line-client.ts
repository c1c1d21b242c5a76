import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

/** A JSON-RPC message as it stood on one line. */
export type Message = Readonly<Record<string, unknown>>

/** The fields that every request of protocol revision 2026-07-28 carries (basic, "_meta"). */
export const modernEnvelope = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'line-client', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Tests only: a server as a real process, spoken to in raw lines, so that no SDK stands between the test and the wire. */
export class LineClient implements AsyncDisposable {
  readonly #child
  readonly #closed
  readonly #waiting = new Map<number, (message: Message) => void>()
  #lastId = 0
  /** Lines of stdout that were not JSON-RPC; must stay empty. */
  readonly foreign: string[] = []
  stderr = ''

  constructor(main: URL, args: readonly string[] = []) {
    this.#child = spawn(process.execPath, [fileURLToPath(main), ...args], { stdio: 'pipe' })
    this.#closed = once(this.#child, 'close')
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    createInterface({ input: this.#child.stdout }).on('line', (line) => this.#take(line))
  }

  #take(line: string): void {
    const message = parsed(line)
    const answered = typeof message?.['id'] === 'number' ? this.#waiting.get(message['id']) : undefined
    if (message?.['jsonrpc'] !== '2.0') this.foreign.push(line)
    else answered?.(message)
  }

  notify(method: string): void {
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', method })}\n`)
  }

  /** The whole answer, result or error, to one request. Fails after 10 s. */
  async ask(method: string, params?: object): Promise<Message> {
    this.#lastId += 1
    const id = this.#lastId
    const answer = new Promise<Message>((resolve, reject) => {
      const late = AbortSignal.timeout(10_000)
      late.addEventListener('abort', () => reject(new Error(`no answer to ${method}; stderr: ${this.stderr}`)))
      this.#waiting.set(id, resolve)
    })
    this.#child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
    return answer
  }

  /** Like ask(), for the result only. */
  async result(method: string, params?: object): Promise<Message> {
    const answer = await this.ask(method, params)
    assert.equal(answer['error'], undefined, JSON.stringify(answer['error']))
    return answer['result'] as Message
  }

  /** Closes stdin, as a client does that leaves, and gives the exit code. */
  async leave(): Promise<number | null> {
    this.#child.stdin.end()
    return this.ended()
  }

  /** Waits for the end of the process; the test's own timeout bounds it. */
  async ended(): Promise<number | null> {
    // 'close' and not 'exit': only then has all of stdout and stderr been seen.
    await this.#closed
    return this.#child.exitCode
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#closed
  }
}

function parsed(line: string): Message | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
