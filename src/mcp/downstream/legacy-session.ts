import { randomBytes } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import type { Principal } from '../../flow/principal/principal.ts'
import { notificationText } from '../wire/jsonrpc.ts'
import type { LegacyRevision } from '../wire/revisions.ts'
import { type Changed, changeMethods } from './changes.ts'
import { Peer } from './peer.ts'
import { type Client, ownerKey } from './request.ts'

/** What `initialize` began. It belongs to one principal, and its id proves nothing: each request brings its own token. */
export class Session extends Peer {
  /** 128 random bits. */
  // Lower-case digits only: there are clients that fold the case of header values.
  readonly id = randomBytes(16).toString('hex')
  readonly owner: string
  readonly revision: LegacyRevision
  readonly client: Client
  usedAt = Date.now()
  readonly #tenant: string
  readonly #principal: string
  #stream: ServerResponse | undefined
  #spokeAt = 0
  /** Changes that nobody could be told of yet. */
  readonly #untold = new Set<Changed>()

  constructor(principal: Principal, revision: LegacyRevision, client: Client) {
    super()
    this.owner = ownerKey(principal)
    this.#tenant = principal.tenant
    this.#principal = principal.id
    this.revision = revision
    this.client = client
    this.watching.tellBy((message) => this.#write(`event: message\ndata: ${message}\n\n`))
    this.onQuiet = () => {
      this.usedAt = Date.now()
    }
  }

  belongsTo(principal: Principal): boolean {
    return this.#principal === principal.id && this.#tenant === principal.tenant
  }

  get isIdle(): boolean {
    return this.running === 0 && !this.hasStream
  }

  get hasStream(): boolean {
    return this.#stream !== undefined
  }

  /** The one stream for what belongs to no request; its head is written. */
  openStream(response: ServerResponse): void {
    this.#stream = response
    response.once('close', () => {
      if (this.#stream === response) this.#stream = undefined
      this.usedAt = Date.now()
    })
    this.#write(': \n\n')
    this.changed(new Set())
    this.watching.flush()
  }

  changed(what: ReadonlySet<Changed>): void {
    for (const one of what) this.#untold.add(one)
    for (const one of this.#untold) {
      if (!this.#write(`event: message\ndata: ${notificationText(changeMethods[one])}\n\n`)) return
      this.#untold.delete(one)
    }
  }

  override say(message: string): boolean {
    return this.#write(`event: message\ndata: ${message}\n\n`)
  }

  keepAlive(now: number, everyMs: number, unreadBytes: number): void {
    if (this.#stream === undefined) return
    if (this.#stream.writableLength > unreadBytes) this.#stream.destroy()
    else if (now - this.#spokeAt >= everyMs) this.#write(': \n\n')
  }

  endStream(): void {
    this.#stream?.end()
    this.#stream = undefined
  }

  override close(): void {
    super.close()
    this.endStream()
  }

  #write(text: string): boolean {
    if (this.#stream === undefined || this.#stream.destroyed) return false
    this.#spokeAt = Date.now()
    this.#stream.write(text)
    return true
  }
}
