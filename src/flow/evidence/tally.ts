import type { Json, JsonObject } from '../../words/json.ts'
import type { Step } from '../line.ts'
import type { EvidenceRecord } from './record.ts'
import { unfolded } from './stated.ts'

/** What the record says of all calls together. Times are microseconds, sizes bytes. */
export interface Tally {
  readonly records: number
  readonly proposals: number
  readonly refused: Readonly<Record<string, number>>
  readonly calls: { readonly reads: number; readonly effects: number; readonly attempts: number }
  readonly ends: Readonly<Record<string, number>>
  readonly acceptance: Readonly<Record<string, number>>
  /** Operations that nobody knows the end of now; those that somebody found out, by a look or by a decision. */
  readonly open: number
  readonly reconciled: number
  readonly decided: number
  readonly compensated: number
  /** Operations that were sent although an earlier attempt of theirs may have run. Has to be none. */
  readonly sentAgain: readonly string[]
  /** Calls that were sent without a pass of every gate on record. Has to be none. */
  readonly ungated: readonly string[]
  readonly approvals: {
    readonly asked: number
    readonly granted: number
    readonly denied: number
    readonly expired: number
    readonly byThemselves: number
  }
  /** Results that were marked, and calls that used what such a result named. */
  readonly suspectResults: number
  readonly taintedCalls: number
  readonly maskedSecrets: number
  readonly resultBytes: number
  /** Of each call: the server's time, and ours without that of waiting for a person. */
  readonly upstreamMicros: Quantiles
  readonly ownMicros: Quantiles
  /** Calls whose record binds everything that a reader needs, of all that were sent; what the others lack. */
  readonly whole: number
  readonly lacking: Readonly<Record<string, number>>
  readonly since?: number
  readonly until?: number
}

export interface Quantiles {
  readonly p50: number
  readonly p95: number
}

const GATES = ['principal', 'tool', 'resource', 'consent', 'budget', 'action'] as const
/** Where a person or the upstream is waited for: no time of ours. */
const WAITING: ReadonlySet<string> = new Set(['receipt'])
const NAMED = 20
const SAMPLES = 100_000

/** Counts the records of a ledger, in their order. Holds a bounded sample of times, and one entry for each open operation. */
export class Tallying {
  readonly #stated = new Map<number, EvidenceRecord>()
  readonly #refused: Record<string, number> = {}
  readonly #ends: Record<string, number> = {}
  readonly #acceptance: Record<string, number> = {}
  readonly #lacking: Record<string, number> = {}
  /** By operation: how it stands, and whether an attempt of it may have run. */
  readonly #operations = new Map<string, { state: string; ran: boolean }>()
  readonly #sentAgain: string[] = []
  readonly #ungated: string[] = []
  readonly #upstream: number[] = []
  readonly #own: number[] = []
  #records = 0
  #proposals = 0
  #reads = 0
  #effects = 0
  #attempts = 0
  #reconciled = 0
  #decided = 0
  #compensated = 0
  #asked = 0
  #granted = 0
  #denied = 0
  #expired = 0
  #byThemselves = 0
  #suspect = 0
  #tainted = 0
  #masked = 0
  #bytes = 0
  #whole = 0
  #since: number | undefined
  #until: number | undefined

  take(line: string): void {
    const read = JSON.parse(line) as EvidenceRecord
    if (read.kind === 'read.stated') this.#stated.set(read.seq, read)
    const record = unfolded(read, (seq) => this.#stated.get(seq))
    this.#records++
    this.#since ??= record.at
    this.#until = record.at
    this.#count(record)
    this.#follow(record)
    for (const step of record.steps ?? []) this.#look(step)
  }

  #count(record: EvidenceRecord): void {
    switch (record.kind) {
      case 'proposal.refused':
        this.#proposals++
        for (const { code } of record.steps ?? []) if (code !== undefined) add(this.#refused, code)
        return
      case 'op.read':
        this.#proposals++
        this.#reads++
        this.#attempts++
        this.#gated(record)
        this.#timed(record)
        return
      case 'op.dispatched':
        this.#attempts++
        // Later attempts of one operation go by the gates of the first.
        if ((record.attempt ?? 1) > 1) return
        this.#proposals++
        this.#effects++
        this.#gated(record)
        return
      case 'op.outcome':
      case 'op.unknown':
        return this.#timed(record)
      case 'op.reconciled':
        this.#reconciled++
        return
      case 'op.decided':
        this.#decided++
        return
      case 'op.compensated':
        this.#compensated++
        return
      case 'approval.asked':
        this.#asked++
        return
      case 'approval.granted':
        this.#granted++
        if (record.facts?.['by'] !== undefined && record.facts['by'] === record.principal) this.#byThemselves++
        return
      case 'approval.denied':
        this.#denied++
        return
      case 'approval.expired':
        this.#expired++
        return
      default:
    }
  }

  /** Where an operation stands after this, and whether that could be after it had been sent twice. */
  #follow({ kind, operation, path, acceptance }: EvidenceRecord): void {
    if (operation === undefined) return
    if (kind === 'op.read') {
      add(this.#ends, path?.at(-1) ?? 'succeeded')
      return
    }
    if (acceptance !== undefined) add(this.#acceptance, acceptance)
    const known = this.#operations.get(operation) ?? { state: 'proposed', ran: false }
    if (kind === 'op.dispatched') {
      if (known.ran && this.#sentAgain.length < NAMED) this.#sentAgain.push(operation)
      known.ran = true
    }
    // Proved that nothing of it left, or that it had no effect: only that makes another attempt harmless.
    if (kind === 'op.not_sent' || kind === 'op.pending' || path?.at(-1) === 'reconciled_none') known.ran = false
    if (path !== undefined && path.length > 0) known.state = path.at(-1)!
    this.#operations.set(operation, known)
  }

  #gated(record: EvidenceRecord): void {
    const steps = record.steps ?? []
    const passed = new Set(steps.filter(({ verdict }) => verdict === 'pass').map(({ step }) => step as string))
    if (!GATES.every((gate) => passed.has(gate)) && this.#ungated.length < NAMED)
      this.#ungated.push(record.operation ?? String(record.seq))
    const lacks = lackingOf(record, steps)
    for (const what of lacks) add(this.#lacking, what)
    if (lacks.length === 0) this.#whole++
  }

  #timed({ steps = [] }: EvidenceRecord): void {
    const sum = (waiting: boolean): number =>
      steps.reduce((all, { step, micros }) => (WAITING.has(step) === waiting ? all + micros : all), 0)
    if (this.#own.length >= SAMPLES) return
    if (steps.some(({ step }) => step === 'receipt')) this.#upstream.push(sum(true))
    this.#own.push(sum(false))
  }

  #look({ step, facts }: Step): void {
    if (step === 'result') {
      if (Array.isArray(facts['signs']) && facts['signs'].length > 0) this.#suspect++
      this.#bytes += numberOf(facts['bytes'])
      if (Array.isArray(facts['masked'])) {
        for (const one of facts['masked'] as readonly JsonObject[]) this.#masked += numberOf(one['count'])
      }
    }
    if (step === 'resource' && facts['tainted'] !== undefined) this.#tainted++
  }

  finish(): Tally {
    const ends = { ...this.#ends }
    let open = 0
    for (const { state } of this.#operations.values()) {
      add(ends, state)
      if (OPEN.has(state)) open++
    }
    return {
      records: this.#records,
      proposals: this.#proposals,
      refused: this.#refused,
      calls: { reads: this.#reads, effects: this.#effects, attempts: this.#attempts },
      ends,
      acceptance: this.#acceptance,
      open,
      reconciled: this.#reconciled,
      decided: this.#decided,
      compensated: this.#compensated,
      sentAgain: this.#sentAgain,
      ungated: this.#ungated,
      approvals: {
        asked: this.#asked,
        granted: this.#granted,
        denied: this.#denied,
        expired: this.#expired,
        byThemselves: this.#byThemselves,
      },
      suspectResults: this.#suspect,
      taintedCalls: this.#tainted,
      maskedSecrets: this.#masked,
      resultBytes: this.#bytes,
      upstreamMicros: quantilesOf(this.#upstream),
      ownMicros: quantilesOf(this.#own),
      whole: this.#whole,
      lacking: this.#lacking,
      ...(this.#since === undefined ? {} : { since: this.#since, until: this.#until! }),
    }
  }
}

const OPEN: ReadonlySet<string> = new Set(['dispatched', 'input_required', 'unknown', 'held', 'compensating'])

/** What a reader needs to tell who did what to what, by whose leave, and cannot find. */
function lackingOf(record: EvidenceRecord, steps: readonly Step[]): string[] {
  const fact = (step: string, name: string): Json | undefined => steps.find((one) => one.step === step)?.facts[name]
  const needed: Readonly<Record<string, unknown>> = {
    'trace id': record.trace,
    principal: record.principal,
    tenant: record.tenant,
    tool: record.tool,
    'definition digest': fact('tool', 'pin'),
    'server version': fact('tool', 'version'),
    'arguments commitment': record.commitments?.arguments,
    scopes: fact('resource', 'scopesDigest'),
    'policy version': fact('resource', 'policyVersion'),
    'consent rule': fact('consent', 'rule'),
  }
  return Object.entries(needed)
    .filter(([, value]) => value === undefined)
    .map(([what]) => what)
}

function quantilesOf(values: number[]): Quantiles {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { p50: at(0.5), p95: at(0.95) }
}

function add(counts: Record<string, number>, key: string): void {
  counts[key] = (counts[key] ?? 0) + 1
}

function numberOf(value: Json | undefined): number {
  return typeof value === 'number' ? value : 0
}
