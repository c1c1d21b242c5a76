import type { Credential, Principal } from '../../flow/principal/principal.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import { EXTENSION_TASKS } from '../wire/envelope.ts'
import type { RequestId } from '../wire/jsonrpc.ts'
import type { Era } from '../wire/revisions.ts'
import { offersForms } from './elicitation.ts'
import type { Reply } from './reply.ts'

/** What a client says of itself: recorded, never believed. */
export interface Client {
  readonly name: string
  readonly version: string
  /** It can put a form to its user. */
  readonly forms: boolean
  /** What else it can be asked: `elicitation`, `sampling` and `roots` of its capabilities. */
  readonly offers: JsonObject
  /** It can hold a task in place of an answer; of the modern era alone. */
  readonly tasks: boolean
}

/** One request of a client, whatever it came by. */
export interface ClientRequest {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject
  readonly era: Era
  readonly client: Client
  readonly credential: Credential
  readonly principal: Principal
  readonly session: string | undefined
}

/** Where the answer to one request goes, and what may go before it. */
export interface Outlet {
  /** Nobody is there any more. */
  readonly gone: boolean
  /** Whether something can be sent before the answer. */
  readonly streams: boolean
  /** A notification, or a request of ours, before the answer. False where it cannot be delivered. */
  send(message: string): boolean
  /** The answer. Only the first one counts. */
  reply(reply: Reply): void
  /** The caller cancelled: it ends without another word. */
  abandon(): void
  /** Shows on a silent stream that there is life. */
  keepAlive(now: number): void
  /** Called when the client leaves before its answer, where the era takes that for a cancel. */
  onLeft: (() => void) | undefined
}

const ASKED = ['elicitation', 'sampling', 'roots']
const NAMELESS: Client = Object.freeze({ name: '', version: '', forms: false, offers: Object.freeze({}), tasks: false })
// Longer names are cut; they are for logs and records only.
const LONGEST = 128

export function clientOf(info: Json | undefined, capabilities: Json | undefined): Client {
  if (!isJsonObject(capabilities)) capabilities = NAMELESS.offers
  const forms = offersForms(capabilities)
  const tasks = holdsTasks(capabilities)
  const offers = Object.fromEntries(Object.entries(capabilities).filter(([name]) => ASKED.includes(name)))
  if (!isJsonObject(info)) return { ...NAMELESS, forms, offers, tasks }
  return {
    name: (textMember(info, 'name') ?? '').slice(0, LONGEST),
    version: (textMember(info, 'version') ?? '').slice(0, LONGEST),
    forms,
    offers,
    tasks,
  }
}

/** `params._meta`; an empty object where there is none. */
export function metaOf(params: JsonObject): JsonObject {
  const meta = member(params, '_meta')
  return isJsonObject(meta) ? meta : NOTHING
}

const NOTHING: JsonObject = Object.freeze({})

/** One text for tenant and principal together. */
export function ownerKey(principal: Principal): string {
  return JSON.stringify([principal.tenant, principal.id])
}

/** Does a client that says this of itself know what to do with a task? Said per request (2026-07-28, "Extensions"). */
function holdsTasks(capabilities: Json | undefined): boolean {
  const extensions = isJsonObject(capabilities) ? member(capabilities, 'extensions') : undefined
  return isJsonObject(extensions) && isJsonObject(member(extensions, EXTENSION_TASKS))
}
