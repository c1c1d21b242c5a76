import { member, textMember, type JsonObject } from '../words/json.ts'
import type { Facts } from '../words/verdict.ts'
import type { AuthorisedAction } from './action/index.ts'
import { answerFault, askFault, hostOf, modeOf } from './receipt/ask-checks.ts'
import {
  type AskForm,
  type AskGrant,
  capabilitiesFor,
  notOffered,
  offersFor,
  offersOfGrant,
} from './receipt/ask-grant.ts'
import { narrowedRoots } from './receipt/ask-roots.ts'
import { type Answerer, type Ask, type AskReply, type Asking, askError, askErrors, askKinds } from './receipt/ask.ts'
import type { PolicyAnswer } from './resource/scoped.ts'
import type { Permit } from './side-effect/operation.ts'

/** One ask on its record. Request and answer are kept as salted commitments. */
export interface AskRecord {
  readonly action: AuthorisedAction
  readonly operation: string
  /** JSON text of the method and its parameters, as the server sent them. */
  readonly request: string
  /** JSON text of what the server was answered. */
  readonly answer: string
  readonly facts: Facts
}

/** What the asks of servers need of the rest. */
export interface AskNeeds {
  grantOf(server: string): AskGrant
  /** Whether the caller may be asked this by that server. */
  permitted(action: AuthorisedAction, form: AskForm): PolicyAnswer
  /** On disk when it resolves. Rejects where that is not possible: then nothing is answered. */
  record(asked: AskRecord): Promise<void>
  /** The same attempt goes on with another leg. On disk when it resolves. */
  recordLeg(action: AuthorisedAction, operation: string, leg: number): Promise<void>
  /** The model of this host, where one is configured. */
  readonly sample?: (ask: Ask, action: AuthorisedAction, signal: AbortSignal) => Promise<Sampled>
  readonly limits: AskLimits
}

/** What the model of this host said, and what goes on record of it. */
export interface Sampled {
  readonly reply: AskReply
  readonly facts: Facts
}

export interface AskLimits {
  /** Asks in one call. */
  readonly perCall: number
  /** Of one ask, and of one answer. */
  readonly bytes: number
  /** How long one ask waits for its answer, in milliseconds. */
  readonly waitMs: number
}

/** The way by which a server may ask something while this attempt is under way. */
export function askingOf(
  permit: Permit,
  answers: Answerer | undefined,
  needs: AskNeeds,
  callerGone: AbortSignal,
): Asking {
  return new GovernedAsking(permit, answers, needs, callerGone)
}

interface Judged {
  readonly ask: Ask
  readonly reply?: AskReply
  readonly facts: Facts
}

const THE_CLIENT_CANNOT = 'the client cannot'
const NOTHING: JsonObject = Object.freeze({})

class GovernedAsking implements Asking {
  readonly #permit: Permit
  readonly #answers: Answerer | undefined
  readonly #needs: AskNeeds
  readonly #callerGone: AbortSignal
  readonly #grant: AskGrant
  #offers: JsonObject | undefined
  #asked = 0

  constructor(permit: Permit, answers: Answerer | undefined, needs: AskNeeds, callerGone: AbortSignal) {
    this.#permit = permit
    this.#answers = answers
    this.#needs = needs
    this.#callerGone = callerGone
    this.#grant = needs.grantOf(permit.action.tool.server)
  }

  get owner(): string {
    const { principal, proposal } = this.#permit.action
    return JSON.stringify([principal.tenant, principal.id, proposal.origin.session ?? null])
  }

  get offers(): JsonObject {
    return (this.#offers ??= offersFor(this.#grant, this.#answers?.offers ?? NOTHING, (form) => this.#permits(form)))
  }

  tell(method: string, params: JsonObject): void {
    this.#answers?.tell(method, params)
  }

  async leg(leg: number): Promise<boolean> {
    try {
      await this.#needs.recordLeg(this.#permit.action, this.#permit.operation, leg)
      return true
    } catch {
      return false
    }
  }

  async ask(asks: readonly Ask[], signal: AbortSignal): Promise<readonly AskReply[]> {
    const { limits } = this.#needs
    const before = this.#asked
    this.#asked += asks.length
    // The server has had its say: what is beyond the bound is answered, and not written down one by one.
    if (before > limits.perCall) return asks.map(() => tooMany)
    const until = AbortSignal.any([signal, this.#callerGone, AbortSignal.timeout(limits.waitMs)])
    const judged = asks.map((ask, n) =>
      before + n >= limits.perCall ? refused(ask, tooMany, 'too many asks') : this.#judge(ask),
    )
    const answered = await this.#answer(judged, until)
    return Promise.all(answered.map((one) => this.#onRecord(one)))
  }

  #judge(ask: Ask): Judged {
    const { limits } = this.#needs
    if (bytesOf(ask.params) > limits.bytes)
      return refused(ask, askError(askErrors.invalidParams, 'The request is larger than the limit'), 'too large')
    const lacking = notOffered(this.offers, ask)
    if (lacking !== undefined) {
      const why = this.#whyNotOffered(ask)
      if (why === THE_CLIENT_CANNOT) this.#answers?.lacked?.(capabilitiesFor(ask))
      return refused(ask, lacking, why)
    }
    const fault = askFault(ask)
    if (fault === undefined) return { ask, facts: {} }
    return refused(ask, fault.reply, fault.why)
  }

  /** For the record: the server only learns that it is not possible. */
  #whyNotOffered(ask: Ask): string {
    if (notOffered(offersOfGrant(this.#grant), ask) !== undefined) return 'not granted to this server'
    const asAnyCaller = offersFor(this.#grant, undefined, (form) => this.#permits(form))
    return notOffered(asAnyCaller, ask) === undefined ? THE_CLIENT_CANNOT : 'no policy permits it'
  }

  #permits(form: AskForm): boolean {
    return this.#needs.permitted(this.#permit.action, form).kind === 'permit'
  }

  async #answer(judged: readonly Judged[], until: AbortSignal): Promise<readonly Judged[]> {
    const open = judged.filter(({ reply }) => reply === undefined)
    const byHost = open.filter(({ ask }) => ask.method === 'sampling/createMessage' && this.#grant.sampling === 'host')
    const byClient = open.filter((one) => !byHost.includes(one))
    const [fromClient, fromHost] = await Promise.all([
      byClient.length === 0 || this.#answers === undefined
        ? byClient.map(() => askError(askErrors.methodNotFound, 'Method not found'))
        : this.#answers.ask(
            byClient.map(({ ask }) => this.#forCaller(ask)),
            until,
          ),
      Promise.all(byHost.map(({ ask }) => this.#sample(ask, until))),
    ])
    return judged.map((one) => {
      if (one.reply !== undefined) return one
      const host = byHost.indexOf(one)
      if (host === -1) return this.#accepted(one.ask, fromClient[byClient.indexOf(one)]!, { by: 'client' }, until)
      const { reply, facts } = fromHost[host]!
      return this.#accepted(one.ask, reply, { by: 'host', ...facts }, until)
    })
  }

  async #sample(ask: Ask, until: AbortSignal): Promise<Sampled> {
    const { sample } = this.#needs
    if (sample === undefined) return { reply: askError(askErrors.internal, 'No model is configured'), facts: {} }
    try {
      return await sample(ask, this.#permit.action, until)
    } catch {
      return { reply: askError(askErrors.internal, 'The model gave no answer'), facts: {} }
    }
  }

  #accepted(ask: Ask, reply: AskReply, about: Facts, until: AbortSignal): Judged {
    const facts = { decision: 'asked', ...about }
    if (reply.kind === 'error') {
      // A person who does not answer has not said no; the protocol has a word for that.
      if (until.aborted && ask.method === 'elicitation/create')
        return { ask, reply: cancelled, facts: { ...facts, answer: 'cancel', why: 'nobody answered' } }
      return {
        ask,
        reply: { ...reply, message: reply.message.slice(0, 1000) },
        facts: { ...facts, answer: `error ${reply.code}` },
      }
    }
    const fault =
      bytesOf(reply.value) > this.#needs.limits.bytes ? 'it is larger than the limit' : answerFault(ask, reply.value)
    if (fault !== undefined) {
      const error = askError(askErrors.internal, `The client's answer cannot be used: ${fault}`)
      return { ask, reply: error, facts: { ...facts, answer: 'unusable', why: fault } }
    }
    const { _meta: _, ...value } = reply.value
    if (ask.method === 'roots/list') {
      const narrowed = narrowedRoots(value, this.#grant.roots)
      const told = (member(narrowed, 'roots') as readonly JsonObject[]).length
      return { ask, reply: { kind: 'result', value: narrowed }, facts: { ...facts, answer: 'roots', told } }
    }
    const answer = ask.method === 'elicitation/create' ? (textMember(value, 'action') ?? '') : 'message'
    return { ask, reply: { kind: 'result', value }, facts: { ...facts, answer } }
  }

  /** What the caller is shown: of whom it comes, and nothing that belongs to the other hop. */
  #forCaller(ask: Ask): Ask {
    const { _meta: _, task: _task, ...params } = ask.params
    const { server } = this.#permit.action.tool
    if (ask.method === 'elicitation/create') {
      const message = textMember(params, 'message') ?? ''
      const host = modeOf(ask) === 'url' ? hostOf(params) : undefined
      const says = this.#grant.named ? `${server}: ${message}` : message
      return {
        ...ask,
        params: { ...params, message: host === undefined ? says : `${says}\n\nIt asks you to open: ${host}` },
      }
    }
    if (ask.method !== 'sampling/createMessage') return { ...ask, params }
    // Other contexts are other servers' matters (2026-07-28 deprecates the member too).
    const { includeContext: _context, ...plain } = params
    return { ...ask, params: plain }
  }

  async #onRecord({ ask, reply = tooMany, facts }: Judged): Promise<AskReply> {
    const { action, operation } = this.#permit
    const host = ask.method === 'elicitation/create' && modeOf(ask) === 'url' ? hostOf(ask.params) : undefined
    const mode =
      ask.method === 'elicitation/create'
        ? (modeOf(ask) ?? 'unknown')
        : ask.method === 'roots/list'
          ? ''
          : this.#grant.sampling
    try {
      await this.#needs.record({
        action,
        operation,
        request: JSON.stringify({ method: ask.method, params: ask.params }),
        answer: JSON.stringify(reply.kind === 'result' ? reply.value : { error: reply.code }),
        facts: {
          server: action.tool.server,
          ask: askKinds[ask.method],
          ...(mode !== '' && { mode }),
          ...(host !== undefined && { host }),
          ...facts,
        },
      })
      return reply
    } catch {
      // What is not on record is not answered; the call itself goes on, and its server hears that it cannot be.
      return askError(askErrors.internal, 'It could not be put on record')
    }
  }
}

const tooMany = askError(askErrors.internal, 'Too many requests of the server in one call')
const cancelled: AskReply = { kind: 'result', value: { action: 'cancel' } }

function refused(ask: Ask, reply: AskReply, why: string): Judged {
  const answer = reply.kind === 'error' ? `error ${reply.code}` : (textMember(reply.value, 'action') ?? 'refused')
  return { ask, reply, facts: { decision: 'refused', why, answer } }
}

function bytesOf(value: JsonObject): number {
  return Buffer.byteLength(JSON.stringify(value), 'utf8')
}

export type { AskGrant } from './receipt/ask-grant.ts'
