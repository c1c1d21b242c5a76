import { randomBytes } from 'node:crypto'
import type { Answer, Caller, CallRequest, Flow } from '../../flow/answer.ts'
import type { Approval } from '../../flow/consent/consented.ts'
import type { Principal } from '../../flow/principal/principal.ts'
import type { Digest } from '../../words/digest.ts'
import { type Json, type JsonObject, isJsonObject } from '../../words/json.ts'
import { type Refusal, refuse } from '../../words/verdict.ts'
import type { Shelf, ShelfList } from '../catalogue/shelf.ts'
import { type DownstreamLimits, type DownstreamOptions, defaultLimits } from './options.ts'
import type { ApprovalAnswers, Page, Ports } from './ports.ts'
import { refused } from './refused.ts'

// What the downstream side needs of the rest, small enough to see through: the ports as one test wants them.

export type Tool = (request: CallRequest, caller: Caller, signal: AbortSignal) => Promise<Answer>

export function principalOf(id: string, tenant = 'acme'): Principal {
  return { id, tenant, kind: 'user', groups: [], proof: 'token' }
}

/** Everybody's token is their own name; `mallory` has none, and `alice@other` is another tenant's. */
const tokens: Readonly<Record<string, Principal>> = {
  alice: principalOf('alice'),
  bob: principalOf('bob'),
  'alice-other': principalOf('alice', 'other'),
}

export class StandIn implements Ports {
  readonly calls: CallRequest[] = []
  readonly answers: { approval: string; by: string; decision: string }[] = []
  readonly faults: unknown[] = []
  readonly tools = new Map<string, Tool>([['echo__say', echo]])
  readonly lists: Record<ShelfList, Buffer> = {
    tools: Buffer.from(JSON.stringify([definition('echo__say')])),
    prompts: Buffer.from('[{"name":"echo__hello"}]'),
    resources: Buffer.from('[{"uri":"learning://rules","name":"rules"}]'),
    resourceTemplates: Buffer.from('[]'),
  }
  readonly pages = new Map<string, Page>()
  instructions = 'Ask before you act.'
  answerRefusal: Refusal | undefined
  #approvals = 0
  readonly granted = new Set<string>()
  readonly #listeners = new Set<(what: 'tools' | 'prompts' | 'resources') => void>()

  get listeners(): number {
    return this.#listeners.size
  }

  readonly identities: Ports['identities'] = {
    verify: (credential) => {
      if (credential.kind === 'socket') return { ...principalOf('alice'), proof: 'socket' }
      const token = credential.kind === 'bearer' ? credential.token.reveal() : ''
      if (token === 'stale') return refuse('IDENTITY_EXPIRED')
      return Object.hasOwn(tokens, token) ? tokens[token]! : refuse('NO_IDENTITY')
    },
  }

  readonly flow: Flow = {
    call: async (request, caller, signal) => {
      this.calls.push(request)
      const { target } = request
      const name = target.kind === 'resource' ? target.uri : 'exported' in target ? target.exported : target.name
      const tool = this.tools.get(name)
      return tool === undefined ? refused('TOOL_UNKNOWN', { name }) : tool(request, caller, signal)
    },
    check: async () => ({ steps: [] }),
  }

  readonly shelf: Shelf = {
    list: (_principal, what) => this.lists[what],
    instructions: () => this.instructions,
    onChanged: (listener) => {
      this.#listeners.add(listener)
      return () => void this.#listeners.delete(listener)
    },
  }

  readonly sources: Ports['sources'] = {
    complete: async () => undefined,
    watch: async () => undefined,
  }

  readonly approvals: ApprovalAnswers = {
    answer: async (approval, { by, decision }) => {
      if (this.answerRefusal !== undefined) return this.answerRefusal
      this.answers.push({ approval, by, decision })
      if (decision === 'granted') this.granted.add(approval)
      return undefined
    },
  }

  readonly spill: Ports['spill'] = {
    read: (owner, uri, offset, limit) => {
      const page = owner.principal === 'alice' && owner.tenant === 'acme' ? this.pages.get(uri) : undefined
      if (page === undefined) return undefined
      const text = page.text.slice(offset, offset + limit)
      const next = offset + limit < page.total ? { next: offset + limit } : {}
      return { ...page, ...next, text, offset }
    },
  }

  readonly onFault = (fault: unknown): void => void this.faults.push(fault)

  changed(what: 'tools' | 'prompts' | 'resources'): void {
    for (const listener of this.#listeners) listener(what)
  }

  approval(text = 'Delete the file notes.md?'): Approval {
    const digest = '0'.repeat(64) as Digest
    const binding = {
      tenant: 'acme',
      principal: 'alice',
      tool: 'files/delete',
      pin: digest,
      argumentsDigest: digest,
      scopesDigest: digest,
      risk: 'high',
      policyVersion: '1',
    }
    const rule = {
      name: 'ask',
      decision: 'ask',
      channels: ['elicitation'],
      selfApproval: true,
      expiresMs: 60_000,
    } as const
    const question = { binding, bindingDigest: digest, rule, text, callId: undefined }
    const id = `apr_${++this.#approvals}`
    return { id, question, askedAt: Date.now(), expiresAt: Date.now() + 60_000, state: 'waiting' }
  }
}

export function options(
  limits: Partial<DownstreamLimits> = {},
  rest: Partial<DownstreamOptions> = {},
): DownstreamOptions {
  return {
    stateKey: randomBytes(32),
    revisions: [],
    allowedHosts: [],
    allowedOrigins: [],
    limits: { ...defaultLimits, ...limits },
    ...rest,
  }
}

export function definition(name: string, properties: JsonObject = {}): JsonObject {
  return { name, description: 'A tool of a test.', inputSchema: { type: 'object', properties } }
}

/** An answer whose result's bytes are exactly `text`. */
export function answeredText(text: string): Answer {
  const value = JSON.parse(text) as JsonObject
  const remarks = { bytes: text.length, contentTypes: ['text'], schema: 'none', masked: [], signs: [] } as const
  const accepted = { bytes: Buffer.from(text), value, isError: value['isError'] === true, remarks }
  return { kind: 'answered', operation: 'op_1', state: 'succeeded', acceptance: 'not_required', accepted, steps: [] }
}

export function answered(value: JsonObject): Answer {
  return answeredText(JSON.stringify(value))
}

export function said(text: string): Answer {
  return answered({ content: [{ type: 'text', text }] })
}

async function echo(request: CallRequest): Promise<Answer> {
  const value: Json = 'value' in request.arguments ? request.arguments.value : null
  return said(isJsonObject(value) && typeof value['text'] === 'string' ? value['text'] : 'nothing')
}
