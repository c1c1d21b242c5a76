import { setTimeout as sleep } from 'node:timers/promises'
import { assertGenuine } from '../../flow/action/index.ts'
import type { Sending, WireOutcome } from '../../flow/receipt/receipt.ts'
import type { Permit } from '../../flow/side-effect/operation.ts'
import { isJsonObject, member, textMember, type JsonObject } from '../../words/json.ts'
import { Secret } from '../../words/secret.ts'
import { mirroredParameters } from '../wire/headers.ts'
import { eraOf, type Era, type ModernRevision } from '../wire/revisions.ts'
import { ask, cancel } from './ask.ts'
import { callOf, isGoverned } from './call.ts'
import { Changes, listKinds, type ListKind } from './changes.ts'
import { agree, mayBeOlder, NoAgreement } from './era.ts'
import { fly, type Pausable } from './flight.ts'
import { type Ended, noStrays, type Link, type LinkEvents, type Strays } from './link.ts'
import { ListFault, lists, readPages } from './lists.ts'
import { openLink, type LinkOptions } from './open.ts'
import { Pauses, type PauseRange } from './pauses.ts'
import { ResourceWatches, tellsOfResources } from './resource-watches.ts'
import { type Round, throughRounds } from './rounds.ts'
import { Runs } from './runs.ts'
import { ServerAsks } from './server-asks.ts'
import type { ConnectionState, ListMethod, Negotiated, Upstream, UpstreamSpec } from './upstream.ts'
import { announced, keepListening } from './watch.ts'

export interface ConnectOptions extends LinkOptions {
  /** How long silence on a pipe is waited for before it is taken for a server of the older era. 3 s where nothing is said. */
  readonly probeTimeoutMs?: number
  /** The most that a page of a list, or another request of our own, may take. 60 s where nothing is said. */
  readonly requestTimeoutMs?: number
  readonly pauses?: PauseRange
}

/** What `server show` says of an upstream beside its state. */
export interface Diagnostics {
  readonly strays: Readonly<Strays>
  /** The last of what a stdio server wrote to standard error; also of one that has ended. */
  readonly errorOutput: string
  /** Tools that were left out of the list because their definition may not be used over HTTP. */
  readonly leftOut: readonly { readonly name: string; readonly why: string }[]
}

export interface ConnectedUpstream extends Upstream {
  /** Something is different now: where the upstream is down, it is tried at once. */
  retry(): void
  /** What the operator gave it and nobody may read in what it writes. */
  readonly secrets: readonly Secret[]
  diagnostics(): Diagnostics
}

/** Connects, and stays connected until it is closed. Never throws: what goes wrong is in `state`. */
export function connectUpstream(spec: UpstreamSpec, options: ConnectOptions = {}): ConnectedUpstream {
  return new Connection(spec, options)
}

/** A link that is in use, and all that lasts as long as it does. */
interface Live {
  readonly link: Link
  readonly negotiated: Negotiated
  readonly runs: Runs
  readonly asks: ServerAsks
}

class Connection implements ConnectedUpstream {
  readonly name: string
  readonly settled: Promise<void>
  readonly #spec: UpstreamSpec
  readonly #options: ConnectOptions
  readonly #changes = new Changes()
  readonly #watches: ResourceWatches
  readonly #stateListeners = new Set<(state: ConnectionState) => void>()
  readonly #closing = new AbortController()
  /** Between two attempts. */
  #pause: AbortController | undefined
  readonly #strays = noStrays()
  /** Links that take no call any more, on which some are still under way. */
  readonly #retired = new Set<Link>()
  readonly #running: Promise<void>
  #state: ConnectionState = { kind: 'connecting' }
  #live: Live | undefined
  #tryFirst: Era | undefined
  /** The server was found to speak HTTP+SSE, which had no discovery: it is connected to that way first. */
  #sse = false
  #errorOutput = ''
  #leftOut: Diagnostics['leftOut'] = []
  readonly #freshFor = new Map<ListMethod, number | undefined>()

  constructor(spec: UpstreamSpec, options: ConnectOptions) {
    this.name = spec.name
    this.#spec = spec
    this.#options = options
    this.#tryFirst = spec.knownEra
    this.#watches = new ResourceWatches(options.pauses)
    const first = Promise.withResolvers<void>()
    this.settled = first.promise
    this.onState(({ kind }) => {
      if (kind !== 'connecting') first.resolve()
    })
    this.#running = this.#run()
  }

  get state(): ConnectionState {
    return this.#state
  }

  get secrets(): readonly Secret[] {
    const { reach } = this.#spec
    const given = reach.kind === 'stdio' ? reach.env : reach.kind === 'http' ? reach.headers : {}
    return Object.values(given).filter((value) => value instanceof Secret)
  }

  async list(method: ListMethod, signal: AbortSignal): Promise<readonly JsonObject[]> {
    const live = this.#live
    if (live === undefined) throw new ListFault('down', `${method}: ${this.#whyDown()}`)
    const { link, negotiated } = live
    if (!isJsonObject(member(negotiated.capabilities, lists[method].capability))) return []
    let freshFor: number | undefined
    const items = await readPages(method, async (params) => {
      const { outcome } = await ask(link, { method, params, revision: negotiated.revision }, this.#patience(signal))
      // A list is as fresh as the page of it that goes stale first.
      if (outcome.kind === 'reply') freshFor = sooner(freshFor, member(outcome.value, 'ttlMs'))
      // Many servers offer resources and never heard of templates.
      const none = method === 'resources/templates/list' && outcome.kind === 'error' && outcome.code === -32601
      return none ? EMPTY_TEMPLATES : outcome
    })
    if (negotiated.era === 'modern') this.#freshFor.set(method, freshFor)
    return method === 'tools/list' ? this.#usable(items, negotiated) : items
  }

  freshFor(method: ListMethod): number | undefined {
    return this.#freshFor.get(method)
  }

  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<WireOutcome> {
    if (isGoverned(method)) throw new TypeError(`${method} is a governed call: it takes a permit`)
    const live = this.#live
    if (live === undefined) return { kind: 'not-sent', why: this.#whyDown() }
    const question = { method, params, revision: live.negotiated.revision }
    return (await ask(live.link, question, this.#patience(signal))).outcome
  }

  async send(permit: Permit, sending: Sending): Promise<WireOutcome> {
    assertGenuine(permit.action)
    if (permit.action.tool.server !== this.name) throw new TypeError('a permit for another upstream')
    const live = this.#live
    if (live === undefined) return { kind: 'not-sent', why: this.#whyDown() }
    const { link, negotiated, runs } = live
    const { logs, asking } = sending
    if (logs !== undefined && runs.mustTurnUp(logs.level)) await runs.turnUp(link, logs.level)
    if (negotiated.era === 'legacy') return (await this.#leg(permit, sending, live, {})).outcome
    const signal = AbortSignal.any([this.#closing.signal, ...(sending.signal === undefined ? [] : [sending.signal])])
    return throughRounds((round) => this.#leg(permit, sending, live, round), asking, signal)
  }

  #leg(permit: Permit, sending: Sending, live: Live, round: Round): Promise<Ended> {
    const { link, negotiated, runs, asks } = live
    const { asking } = sending
    const { era, revision } = negotiated
    const wants = {
      progress: sending.onProgress !== undefined,
      logLevel: runs.levelFor(sending.logs),
      trace: sending.trace,
      offers: era === 'modern' ? asking?.offers : undefined,
    }
    const request = callOf(permit, link, revision, wants, round)
    if (typeof request === 'string') return Promise.resolve({ outcome: { kind: 'not-sent', why: request } })
    const { id } = request
    runs.began(id, permit, sending)
    const ground = {
      link,
      begun: (call: Pausable) => {
        if (asking === undefined) return
        asks.began(id, { asking, pause: () => call.pause(), resume: () => call.resume() })
      },
      landed: () => {
        runs.ended(id)
        asks.ended(id)
      },
      abandoned: () => cancel(link, id, revision),
    }
    return fly(ground, request, sending)
  }

  onChanged(listener: (what: ListKind) => void): () => void {
    return this.#changes.listen(listener)
  }

  watchResource(uri: string, listener: (uri: string) => void): Promise<(() => void) | undefined> {
    return this.#watches.watch(uri, listener)
  }

  onState(listener: (state: ConnectionState) => void): () => void {
    this.#stateListeners.add(listener)
    return () => void this.#stateListeners.delete(listener)
  }

  diagnostics(): Diagnostics {
    const errorOutput = this.#live?.link.errorOutput() ?? this.#errorOutput
    return { strays: { ...this.#strays }, errorOutput, leftOut: this.#leftOut }
  }

  retry(): void {
    this.#pause?.abort()
  }

  async close(): Promise<void> {
    this.#closing.abort()
    await this.#running
    await Promise.all([...this.#retired].map(closed))
  }

  async #run(): Promise<void> {
    const pauses = new Pauses(this.#options.pauses)
    const { signal } = this.#closing
    while (!signal.aborted) {
      this.#become({ kind: 'connecting' })
      const began = performance.now()
      const why = await this.#connectOnce()
      if (signal.aborted) break
      const pause = pauses.after(performance.now() - began)
      this.#become({ kind: 'down', why, nextTryAt: Date.now() + pause })
      this.#pause = new AbortController()
      const woken = AbortSignal.any([signal, this.#pause.signal])
      await sleep(pause, undefined, { signal: woken, ref: false }).catch(() => {})
    }
    this.#become({ kind: 'closed' })
    this.#changes.stop()
    this.#watches.stop()
    this.#stateListeners.clear()
  }

  /** One link from its beginning to its end; answers why it ended, or why it never began. */
  async #connectOnce(): Promise<string> {
    const end = Promise.withResolvers<string>()
    const ended = new AbortController()
    const stop = (): void => end.resolve('closed')
    this.#closing.signal.addEventListener('abort', stop)
    const held: { link?: Link } = {}
    const asks = new ServerAsks(this.#spec.offers ?? {})
    try {
      const runs = new Runs()
      this.#freshFor.clear()
      const events = this.#events(runs, asks, end.resolve)
      const meet = async (): Promise<Negotiated> => {
        const opened = await openLink(this.#spec, { ...this.#options, sse: this.#sse }, events, this.#strays)
        held.link = opened
        asks.through((text) => void opened.post(text))
        return this.#negotiate(opened)
      }
      const negotiated = await meet().catch(async (fault: unknown) => {
        if (held.link === undefined || !this.#mayBeSse(held.link, fault)) throw fault
        await closed(held.link)
        delete held.link
        this.#sse = true
        return meet().catch((older: Error) => {
          throw new NoAgreement(`${(fault as Error).message}; by HTTP+SSE: ${older.message}`)
        })
      })
      this.#begin({ link: held.link!, runs, asks, negotiated }, ended.signal)
      return await end.promise
    } catch (fault) {
      this.#tryFirst = fault instanceof NoAgreement ? fault.tryFirst : undefined
      // What was found once may not hold any more: the next time it is looked for anew.
      this.#sse = false
      return fault instanceof Error ? fault.message : String(fault)
    } finally {
      this.#live = undefined
      this.#closing.signal.removeEventListener('abort', stop)
      ended.abort()
      asks.close()
      if (held.link !== undefined) await this.#leave(held.link)
    }
  }

  /** Turned away where Streamable HTTP would have been answered, and an older revision may be spoken. */
  #mayBeSse(link: Link, fault: unknown): boolean {
    const { revisions } = this.#spec
    const older = revisions.length === 0 || revisions.some((revision) => eraOf(revision) === 'legacy')
    return link.transport === 'http' && older && mayBeOlder(fault) && !this.#closing.signal.aborted
  }

  async #negotiate(link: Link): Promise<Negotiated> {
    const wanted = {
      revisions: this.#spec.revisions,
      era: link.transport === 'sse' ? 'legacy' : this.#tryFirst,
      offers: this.#spec.offers ?? {},
      probeTimeoutMs: this.#options.probeTimeoutMs ?? 3000,
    }
    const patience = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#spec.connectTimeoutMs)])
    const agreement = await agree(link, wanted, patience)
    return { ...agreement, transport: link.transport, pid: link.pid, connectedAt: Date.now() }
  }

  #begin(live: Live, ended: AbortSignal): void {
    const { link, negotiated, runs } = live
    const { era, revision, capabilities } = negotiated
    this.#tryFirst = era
    this.#live = live
    runs.agreed(negotiated)
    // Servers ask on that stream too, where they do not say to which call it belongs.
    const mayAsk = Object.keys(this.#spec.offers ?? {}).length > 0
    link.settled(announced(capabilities).length > 0 || tellsOfResources(capabilities) || mayAsk)
    if (era === 'modern') {
      const missed = (): void => this.#allChanged()
      void keepListening(link, revision as ModernRevision, capabilities, missed, ended, this.#options.pauses)
    }
    this.#become({ kind: 'ready', negotiated })
    this.#watches.begin(link, negotiated, ended)
    // What was listed of an earlier connection may not hold for this one.
    this.#allChanged()
  }

  async #leave(link: Link): Promise<void> {
    if (this.#closing.signal.aborted || link.transport !== 'http') {
      await closed(link)
      this.#errorOutput = link.errorOutput()
      return
    }
    // Calls that are under way on an endpoint may still be answered; nothing new is sent that way.
    this.#retired.add(link)
    void link.retire().then(async () => {
      this.#retired.delete(link)
      await closed(link)
    })
  }

  #events(runs: Runs, asks: ServerAsks, down: (why: string) => void): LinkEvents {
    return {
      down,
      request: (request, leg) => asks.request(request, leg),
      missed: () => {
        this.#allChanged()
        this.#watches.missed()
      },
      notification: (method, params, leg) => {
        if (method === 'notifications/progress') return runs.progressed(params)
        if (method === 'notifications/message') return runs.logged(params, leg)
        if (method === 'notifications/resources/updated') return this.#watches.updated(params)
        if (method === 'notifications/subscriptions/acknowledged') return this.#watches.acknowledged(params)
        if (asks.notified(method, params)) return
        for (const kind of listKinds) {
          if (method === `notifications/${kind}/list_changed`) this.#changes.changed(kind)
        }
      },
    }
  }

  #allChanged(): void {
    for (const kind of listKinds) this.#changes.changed(kind)
  }

  #become(state: ConnectionState): void {
    this.#state = state
    for (const listener of this.#stateListeners) listener(state)
  }

  #whyDown(): string {
    return this.#state.kind === 'down' ? this.#state.why : `the upstream is ${this.#state.kind}`
  }

  #patience(signal: AbortSignal): AbortSignal {
    return AbortSignal.any([signal, AbortSignal.timeout(this.#options.requestTimeoutMs ?? 60_000)])
  }

  /** 2026-07-28, "x-mcp-header": over HTTP a tool with an invalid annotation is left out, and the others stay. */
  #usable(tools: readonly JsonObject[], { transport, era }: Negotiated): readonly JsonObject[] {
    if (transport !== 'http' || era !== 'modern') return tools
    const leftOut: { name: string; why: string }[] = []
    const usable = tools.filter((tool) => {
      const schema = member(tool, 'inputSchema')
      const mirrored = isJsonObject(schema) ? mirroredParameters(schema) : undefined
      if (mirrored?.kind !== 'invalid') return true
      leftOut.push({ name: textMember(tool, 'name') ?? '', why: mirrored.why })
      return false
    })
    this.#leftOut = leftOut
    return usable
  }
}

// A server in this process may throw when it is closed; that is no reason not to go on.
async function closed(link: Link): Promise<void> {
  await link.close().catch(() => {})
}

const EMPTY_TEMPLATES: WireOutcome = {
  kind: 'reply',
  value: { resourceTemplates: [] },
  bytes: Buffer.from('{"resourceTemplates":[]}'),
}

function sooner(known: number | undefined, ttlMs: unknown): number | undefined {
  if (typeof ttlMs !== 'number' || !(ttlMs >= 0)) return known
  return known === undefined ? ttlMs : Math.min(known, ttlMs)
}
