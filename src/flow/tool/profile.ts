import type { Json } from '../../words/json.ts'
import type { Condition } from './condition.ts'

/** read: no effect · idempotent: twice is once · keyed: the upstream dedupes on a key of ours · once: all else. */
export type EffectClass = 'read' | 'idempotent' | 'keyed' | 'once'
export type Access = 'read' | 'list' | 'write' | 'delete' | 'execute'
export type ScopeKind = 'path' | 'url' | 'host' | 'repo' | 'table' | 'record' | 'literal'

/** How one scope is drawn from the arguments. */
export interface ScopeExtractor {
  readonly kind: ScopeKind
  /** JSON pointer (RFC 6901) into the arguments; `*` as a segment stands for every element. For `literal`, the scope's own text. */
  readonly from: string
  readonly access: Access
  /** The argument may be missing, and then draws no scope. Otherwise a missing one is a refusal. */
  readonly optional?: boolean
  /** `path` only: the declared root that relative paths start from. */
  readonly base?: string
}

/** A governed read that tells what the world looks like after a call. */
export interface ReadBack {
  /** `server/tool` by the upstream's own names; its profile must say `read`. */
  readonly tool: string
  /** Arguments of the read; an object `{ "$argument": "/pointer" }` anywhere in it is replaced from the judged call's arguments. */
  readonly arguments: Json
  /** All of these hold of the read's result: the effect is there. */
  readonly expect: readonly Condition[]
  readonly settleMs: number
  readonly tries: number
  /** After this long a call that nobody answers can no longer take effect; a negative answer counts only then. */
  readonly maxExecutionMs: number
}

/**
 * One way to find out what became of a call. A profile names them in the order in which they are tried; an answer that comes
 * late is always the first, and a person the last.
 */
export interface Adapter extends ReadBack {
  /**
   * task: asks for the task that the upstream made · cancel: takes it back by its key, which makes "not yet" a "never" ·
   * status: asks for it by key or receipt · read-back: looks for what it was to make · listing: looks for the one new entry.
   */
  readonly by: 'task' | 'cancel' | 'status' | 'read-back' | 'listing'
  /** A "not there" of an index that lags proves nothing. */
  readonly source: 'read-your-writes' | 'eventual'
  /** listing: where the entries are, and where in each of them its time is (ISO 8601, or milliseconds). */
  readonly items?: string
  readonly time?: string
}

/** The call that undoes this one: an operation of its own, with an approval of its own. */
export interface Compensation {
  /** `server/tool`; its profile has a `verify`, since only what the world shows ends a compensation. */
  readonly tool: string
  /** As of a ReadBack; `{ "$operation": "receipt" }` is what the call to be undone gave back. */
  readonly arguments: Json
}

/** Where the upstream reads the key by which it tells a repeat from a new call. It is ours, never the model's. */
export interface UpstreamKey {
  readonly in: 'meta' | 'argument' | 'header'
  /** Key of `_meta`, name of the argument or of the header. */
  readonly name: string
  /** For so long the upstream remembers it; afterwards a `keyed` tool is `once`. */
  readonly lifetimeMs: number
}

/** What a success has to contain to be one, and where in it the upstream names what it made. */
export interface ReceiptRule {
  readonly conditions?: readonly Condition[]
  /** JSON pointer into the result; the first value there is kept as the receipt. */
  readonly at?: string
}

/** What the operator declares of a tool. What a server says of itself may tighten this, never loosen it. */
export interface ToolProfile {
  readonly effect: EffectClass
  readonly risk: 'low' | 'medium' | 'high'
  readonly scopes: readonly ScopeExtractor[]
  readonly repeat: 'ask' | 'allow'
  /** When the caller is answered even if the upstream has not. */
  readonly softDeadlineMs: number
  /** How long a late answer is still listened for. */
  readonly hardDeadlineMs: number
  /** `clean`: the upstream takes a cancel, and what it cancels leaves nothing half done. Otherwise it is never told. */
  readonly cancel?: 'clean'
  /** Answers with `isError` on which all these hold had no effect: the call failed, and may be repeated. */
  readonly definiteFailure?: readonly Condition[]
  /** The server says truly that it refused a call before it did anything (401, 404, -32601 and their like). */
  readonly trustRefusals: boolean
  readonly upstreamKey?: UpstreamKey
  readonly receipt?: ReceiptRule
  readonly reconcile?: ReadBack | readonly Adapter[]
  readonly compensate?: Compensation
  readonly verify?: ReadBack
  readonly maxResultBytes?: number
  /** `keep` lets secrets pass, `mask` replaces them, `refuse` holds the result back. */
  readonly secrets: 'keep' | 'mask' | 'refuse'
  /** `trusted`: nobody but the operator's own people writes what its results hold. Otherwise values in them are followed. */
  readonly results?: 'trusted'
  /** Requests that this tool answers, in the words of people; they help to find it, and decide nothing. */
  readonly examples?: readonly string[]
  /** False where no profile was declared and these are the defaults. */
  readonly declared: boolean
}

/** What holds where the operator says nothing: nothing is known, so everything is assumed. */
export const undeclared: ToolProfile = Object.freeze({
  effect: 'once',
  risk: 'high',
  scopes: [],
  repeat: 'ask',
  softDeadlineMs: 30_000,
  hardDeadlineMs: 600_000,
  trustRefusals: false,
  secrets: 'mask',
  declared: false,
})
