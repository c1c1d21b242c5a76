import type { JsonObject } from '../../words/json.ts'
import { ListFault } from '../upstream/lists.ts'
import type { ConnectionState, ListMethod, Upstream } from '../upstream/upstream.ts'

export type ListKind = 'tools' | 'prompts' | 'resources'

/** What one server lists. Undefined: not known of the connection that stands now. */
export interface Lists {
  readonly tools: readonly JsonObject[] | undefined
  readonly prompts: readonly JsonObject[] | undefined
  readonly resources: readonly JsonObject[] | undefined
  readonly templates: readonly JsonObject[] | undefined
}

export interface ListingOptions {
  readonly kinds: readonly ListKind[]
  readonly pollMs: number
  /** How long one reading of a list may take. */
  readonly patienceMs: number
  /** Called after every reading and every change of the connection. */
  readonly onListed: () => void
  /** Milliseconds, never going back. */
  readonly clock: () => number
}

interface Kind {
  running: Promise<void> | undefined
  /** Something was said to have changed since the reading that runs began. */
  again: boolean
  /** When the reading began whose result is at hand; -Infinity where none is, or where it is known to be stale. */
  askedAt: number
  /** When anything was last known for sure; a list may be kept for a while when it cannot be read again. */
  knownAt: number
  why: string | undefined
  /** The list has no end that could be waited for, and what is at hand is its beginning. */
  cut: boolean
  /** Readings that failed since the last that did not. */
  failures: number
  nextAt: number
  timer: NodeJS.Timeout | undefined
}

/** How fresh one list is, for people. Times in milliseconds from now, the past below zero. */
export interface Freshness {
  readonly list: ListKind
  readonly items: number | undefined
  readonly readMs: number | undefined
  readonly nextMs: number | undefined
  /** What the server says of how long it may be kept. */
  readonly ttlMs: number | undefined
  readonly why: string | undefined
}

/** A list that the server calls fresh for days is read again after so many of our own pauses all the same: nobody but us looks for drift. */
const MOST_PAUSES = 30
/** After failures the pause doubles, up to so many of the usual ones. */
const MOST_BACK_OFF = 8
const LEAST_PAUSE_MS = 1_000

/** Polls that may fail before what was listed counts as unknown. */
const MISSES = 3

/** Keeps the lists of one upstream: reads them when it connects, when it says that they changed, and in between. */
export class Listing {
  /** Resolves when the upstream could not be reached at first, or when each of its lists has been read once, or failed. */
  readonly settled: Promise<void>
  readonly #upstream: Upstream
  readonly #options: ListingOptions
  readonly #kinds = new Map<ListKind, Kind>()
  readonly #closing = new AbortController()
  readonly #leave: (() => void)[]
  #lists: { -readonly [Key in keyof Lists]: Lists[Key] } = unknown()

  constructor(upstream: Upstream, options: ListingOptions) {
    this.#upstream = upstream
    this.#options = options
    for (const kind of options.kinds) this.#kinds.set(kind, fresh())
    const settled = Promise.withResolvers<void>()
    this.settled = settled.promise
    this.#leave = [
      upstream.onState((state) => this.#stateChanged(state)),
      upstream.onChanged((kind) => void this.#changed(kind)),
    ]
    void upstream.settled.then(async () => {
      if (upstream.state.kind === 'ready') await this.#readAll()
      settled.resolve()
    })
  }

  get lists(): Lists {
    return this.#lists
  }

  /** Why a list is not known, or not known to be as it was, although the upstream is connected. */
  why(kind: ListKind): string | undefined {
    return this.#kinds.get(kind)?.why
  }

  /** What is not in the list may still be offered: only its beginning could be read. */
  isCut(kind: ListKind): boolean {
    return this.#kinds.get(kind)?.cut === true
  }

  get freshness(): readonly Freshness[] {
    const now = this.#options.clock()
    return [...this.#kinds].map(([list, { knownAt, nextAt, why }]) => {
      const items = this.#lists[list]?.length
      const from = (at: number): number | undefined => (Number.isFinite(at) ? Math.round(at - now) : undefined)
      const ttlMs = this.#upstream.freshFor(METHODS[list])
      return { list, items, readMs: from(knownAt), nextMs: from(nextAt), ttlMs, why }
    })
  }

  /** The same for all of its lists. */
  get faults(): readonly string[] {
    return [...this.#kinds.values()].flatMap(({ why }) => why ?? [])
  }

  /**
   * Undefined where the list was asked for within `maxAgeMs`. Otherwise it is read, and the promise rejects where that fails
   * or the signal aborts.
   */
  refresh(kind: ListKind, maxAgeMs: number, signal: AbortSignal): Promise<void> | undefined {
    const state = this.#kinds.get(kind)
    const oldest = this.#options.clock() - maxAgeMs
    if (state === undefined || state.askedAt >= oldest) return undefined
    return unlessAborted(this.#since(kind, state, oldest), signal)
  }

  close(): void {
    this.#closing.abort()
    for (const { timer } of this.#kinds.values()) clearTimeout(timer)
    for (const leave of this.#leave) leave()
  }

  async #since(kind: ListKind, state: Kind, oldest: number): Promise<void> {
    // A reading that runs already may have begun too long ago; the next one cannot have.
    for (let n = 0; n < 2; n++) {
      await this.#read(kind)
      if (state.askedAt >= oldest) return
    }
    throw new Error(state.why ?? `the list of ${kind} could not be read again`)
  }

  async #readAll(): Promise<void> {
    await Promise.all([...this.#kinds.keys()].map((kind) => this.#read(kind)))
  }

  #changed(kind: ListKind): Promise<void> {
    const state = this.#kinds.get(kind)
    if (state === undefined) return Promise.resolve()
    state.askedAt = -Infinity
    if (state.running === undefined) return this.#read(kind)
    state.again = true
    return state.running
  }

  #stateChanged(state: ConnectionState): void {
    // The reading of what a new connection lists is set off by `onChanged`.
    this.#lists = unknown()
    for (const kind of this.#kinds.values())
      Object.assign(kind, { askedAt: -Infinity, knownAt: -Infinity, why: undefined, cut: false, failures: 0 })
    if (state.kind !== 'connecting') this.#options.onListed()
  }

  /** Never rejects: what went wrong is in `why`. */
  #read(kind: ListKind): Promise<void> {
    const state = this.#kinds.get(kind)!
    if (this.#upstream.state.kind !== 'ready' || this.#closing.signal.aborted) return state.running ?? Promise.resolve()
    state.running ??= this.#readOnce(kind, state).finally(() => {
      state.running = undefined
      const again = state.again
      state.again = false
      if (again) void this.#read(kind)
      else this.#schedule(kind, state)
    })
    return state.running
  }

  /** Sets the next reading, spread a little, so that many lists that were read together do not stay together. */
  #schedule(kind: ListKind, state: Kind): void {
    clearTimeout(state.timer)
    if (this.#closing.signal.aborted) return
    const pause = this.#pause(kind, state) * (0.9 + Math.random() * 0.2)
    state.nextAt = this.#options.clock() + pause
    state.timer = setTimeout(() => void this.#read(kind), pause).unref()
  }

  #pause(kind: ListKind, { failures }: Kind): number {
    const { pollMs } = this.#options
    if (failures > 0) return pollMs * Math.min(MOST_BACK_OFF, 2 ** (failures - 1))
    const ttlMs = this.#upstream.freshFor(METHODS[kind])
    // Zero means that it is stale at once, which no pause can be.
    if (ttlMs === undefined || ttlMs === 0) return pollMs
    return Math.min(Math.max(ttlMs, Math.min(LEAST_PAUSE_MS, pollMs)), pollMs * MOST_PAUSES)
  }

  async #readOnce(kind: ListKind, state: Kind): Promise<void> {
    const began = this.#options.clock()
    const connection = this.#upstream.state
    const signal = AbortSignal.any([this.#closing.signal, AbortSignal.timeout(this.#options.patienceMs)])
    try {
      const read = await this.#readOrCut(METHODS[kind], signal)
      const templates = kind === 'resources' ? await this.#readOrCut('resources/templates/list', signal) : undefined
      // What an earlier connection listed says nothing of this one.
      if (this.#upstream.state !== connection) return
      this.#lists[kind] = read.items
      if (templates !== undefined) this.#lists.templates = templates.items
      const why = read.cut ?? templates?.cut
      state.why = why && `its list of ${kind} could not be read to its end: ${why}`
      state.cut = why !== undefined
      // A server without end is asked as seldom as one that does not answer.
      state.failures = why === undefined ? 0 : state.failures + 1
      state.knownAt = began
      state.askedAt = state.again ? -Infinity : began
    } catch (fault) {
      if (this.#upstream.state !== connection) return
      state.why = `its list of ${kind} could not be read: ${fault instanceof Error ? fault.message : String(fault)}`
      state.askedAt = -Infinity
      state.failures++
      if (this.#options.clock() - state.knownAt > MISSES * this.#options.pollMs) this.#lists[kind] = undefined
    }
    if (!this.#closing.signal.aborted) this.#options.onListed()
  }

  async #readOrCut(method: ListMethod, signal: AbortSignal): Promise<{ items: readonly JsonObject[]; cut?: string }> {
    try {
      return { items: await this.#upstream.list(method, signal) }
    } catch (fault) {
      if (fault instanceof ListFault && fault.before !== undefined) return { items: fault.before, cut: fault.message }
      throw fault
    }
  }
}

const METHODS: Readonly<Record<ListKind, ListMethod>> = {
  tools: 'tools/list',
  prompts: 'prompts/list',
  resources: 'resources/list',
}

function fresh(): Kind {
  const never = { askedAt: -Infinity, knownAt: -Infinity, nextAt: -Infinity }
  return { running: undefined, again: false, ...never, why: undefined, cut: false, failures: 0, timer: undefined }
}

function unknown(): Lists {
  return { tools: undefined, prompts: undefined, resources: undefined, templates: undefined }
}

function unlessAborted(work: Promise<void>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason as Error)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}
