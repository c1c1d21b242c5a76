import { setTimeout as sleep } from 'node:timers/promises'
import { isJsonObject, member, textMember, type Json, type JsonObject } from '../../words/json.ts'
import { metaKeys } from '../wire/envelope.ts'
import { ask } from './ask.ts'
import type { Link } from './link.ts'
import { Pauses, type PauseRange } from './pauses.ts'
import type { Negotiated } from './upstream.ts'

type Listener = (uri: string) => void

/** How many resources of one server may be watched at once. */
const MOST = 1_000
/** How long a server may take to answer a subscription. */
const ANSWER_MS = 10_000

/** One way of saying, on one connection, what is watched. */
interface Line {
  /** Resolves whether the server will tell of it. */
  add(uri: string): Promise<boolean>
  remove(uri: string): void
}

/** Does the server say when single resources change? */
export function tellsOfResources(capabilities: JsonObject): boolean {
  const resources = member(capabilities, 'resources')
  return isJsonObject(resources) && member(resources, 'subscribe') === true
}

/** Who watches which resource of one server. The server is asked once for each, whoever and however many they are. */
export class ResourceWatches {
  readonly #listeners = new Map<string, Set<Listener>>()
  readonly #range: PauseRange | undefined
  #line: Line | undefined
  #unable = false
  #opening: { readonly id: number; readonly taken: (uris: ReadonlySet<Json>) => void } | undefined

  constructor(range?: PauseRange) {
    this.#range = range
  }

  async watch(uri: string, listener: Listener): Promise<(() => void) | undefined> {
    if (this.#unable) return undefined
    let listeners = this.#listeners.get(uri)
    if (listeners === undefined) {
      if (this.#listeners.size >= MOST) return undefined
      listeners = new Set()
      this.#listeners.set(uri, listeners)
    }
    // A function of its own for each watch: one listener may watch twice, and end one of the two.
    const told: Listener = (changed) => listener(changed)
    const first = listeners.size === 0
    listeners.add(told)
    const stop = (): void => {
      if (!listeners.delete(told) || listeners.size > 0 || this.#listeners.get(uri) !== listeners) return
      this.#listeners.delete(uri)
      this.#line?.remove(uri)
    }
    // While the server is out of reach it is asked when it comes back.
    if (first && this.#line !== undefined && !(await this.#line.add(uri))) {
      stop()
      return undefined
    }
    return stop
  }

  /** A connection began: what is watched is asked for again, and may have changed meanwhile. */
  begin(link: Link, negotiated: Negotiated, ended: AbortSignal): void {
    this.#unable = !tellsOfResources(negotiated.capabilities)
    if (this.#unable) return
    const line =
      negotiated.era === 'legacy' ? new Subscribing(link, negotiated, ended) : this.#listening(link, negotiated, ended)
    this.#line = line
    ended.addEventListener('abort', () => {
      if (this.#line === line) this.#line = undefined
    })
    for (const uri of this.#listeners.keys()) void line.add(uri)
    this.missed()
  }

  updated(params: JsonObject): void {
    const uri = textMember(params, 'uri')
    if (uri === undefined) return
    const listeners = this.#listeners.get(uri)
    if (listeners !== undefined) return tell(listeners, uri)
    // 2025-11-25, "Resources": the URI may be one below the one that was subscribed to.
    for (const [watched, others] of this.#listeners) if (isBelow(uri, watched)) tell(others, uri)
  }

  acknowledged(params: JsonObject): void {
    const meta = member(params, '_meta')
    if (!isJsonObject(meta) || this.#opening?.id !== member(meta, metaKeys.subscriptionId)) return
    const filter = member(params, 'notifications')
    const uris = isJsonObject(filter) ? member(filter, 'resourceSubscriptions') : undefined
    this.#opening?.taken(new Set(Array.isArray(uris) ? (uris as readonly Json[]) : []))
  }

  missed(): void {
    for (const [uri, listeners] of this.#listeners) tell(listeners, uri)
  }

  stop(): void {
    this.#listeners.clear()
  }

  #listening(link: Link, negotiated: Negotiated, ended: AbortSignal): Line {
    const hooks = {
      uris: () => [...this.#listeners.keys()],
      missed: () => this.missed(),
      opening: (id: number, taken: (uris: ReadonlySet<Json>) => void) => void (this.#opening = { id, taken }),
    }
    return new Listening(link, negotiated, hooks, ended, this.#range)
  }
}

function tell(listeners: ReadonlySet<Listener>, uri: string): void {
  for (const listener of listeners) listener(uri)
}

function isBelow(uri: string, watched: string): boolean {
  return uri.startsWith(watched.endsWith('/') ? watched : `${watched}/`)
}

/** Until 2025-11-25: a request for each. What is said of one resource is said in order. */
class Subscribing implements Line {
  readonly #link: Link
  readonly #negotiated: Negotiated
  readonly #ended: AbortSignal
  readonly #last = new Map<string, Promise<boolean>>()

  constructor(link: Link, negotiated: Negotiated, ended: AbortSignal) {
    this.#link = link
    this.#negotiated = negotiated
    this.#ended = ended
  }

  add(uri: string): Promise<boolean> {
    return this.#say('resources/subscribe', uri)
  }

  remove(uri: string): void {
    void this.#say('resources/unsubscribe', uri)
  }

  #say(method: string, uri: string): Promise<boolean> {
    const { revision } = this.#negotiated
    const before = this.#last.get(uri) ?? Promise.resolve(true)
    const said = before.then(async () => {
      const patience = AbortSignal.any([this.#ended, AbortSignal.timeout(ANSWER_MS)])
      const { outcome } = await ask(this.#link, { method, params: { uri }, revision }, patience)
      if (this.#last.get(uri) === said) this.#last.delete(uri)
      return outcome.kind === 'reply'
    })
    this.#last.set(uri, said)
    return said
  }
}

interface Hooks {
  uris(): string[]
  missed(): void
  opening(id: number, taken: (uris: ReadonlySet<Json>) => void): void
}

/**
 * Since 2026-07-28: one stream whose filter names all. A new one is opened for each change of the list, and the one before
 * is closed when the server has taken it, so that nothing is missed in between.
 */
class Listening implements Line {
  readonly #link: Link
  readonly #negotiated: Negotiated
  readonly #hooks: Hooks
  readonly #ended: AbortSignal
  readonly #pauses: Pauses
  #open: AbortController | undefined
  /** Gathers what is added until the stream before has been taken. */
  #next: Promise<ReadonlySet<Json>> | undefined
  #last: Promise<unknown> = Promise.resolve()

  constructor(link: Link, negotiated: Negotiated, hooks: Hooks, ended: AbortSignal, range: PauseRange | undefined) {
    this.#link = link
    this.#negotiated = negotiated
    this.#hooks = hooks
    this.#ended = ended
    this.#pauses = new Pauses(range)
  }

  async add(uri: string): Promise<boolean> {
    return (await this.#renewed()).has(uri)
  }

  remove(): void {
    void this.#renewed()
  }

  #renewed(): Promise<ReadonlySet<Json>> {
    this.#next ??= this.#last.then(() => {
      const listening = this.#listen()
      this.#next = undefined
      this.#last = listening
      return listening
    })
    return this.#next
  }

  #listen(): Promise<ReadonlySet<Json>> {
    const before = this.#open
    const uris = this.#hooks.uris()
    const { promise, resolve } = Promise.withResolvers<ReadonlySet<Json>>()
    if (uris.length === 0 || this.#ended.aborted) {
      this.#open = undefined
      before?.abort()
      resolve(new Set())
      return promise
    }
    const now = new AbortController()
    this.#open = now
    const late = setTimeout(() => taken(new Set()), ANSWER_MS).unref()
    const taken = (honoured: ReadonlySet<Json>): void => {
      clearTimeout(late)
      before?.abort()
      resolve(honoured)
    }
    void this.#follow(uris, now, taken).then(() => taken(new Set()))
    return promise
  }

  async #follow(
    uris: readonly string[],
    now: AbortController,
    taken: (uris: ReadonlySet<Json>) => void,
  ): Promise<void> {
    const { revision } = this.#negotiated
    const began = performance.now()
    const params = { notifications: { resourceSubscriptions: uris } }
    const until = AbortSignal.any([this.#ended, now.signal])
    const numbered = (id: number): void => this.#hooks.opening(id, taken)
    const { outcome } = await ask(this.#link, { method: 'subscriptions/listen', params, revision, numbered }, until)
    if (until.aborted || outcome.kind === 'error') return
    await sleep(this.#pauses.after(performance.now() - began), undefined, { signal: until, ref: false }).catch(() => {})
    if (until.aborted) return
    this.#hooks.missed()
    void this.#renewed()
  }
}
