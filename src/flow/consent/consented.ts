import type { Digest } from '../../words/digest.ts'
import type { Scoped } from '../resource/scoped.ts'

export type Channel = 'terminal' | 'cli' | 'console' | 'elicitation'

/** One rule; the first that matches decides. Every member that is given must match; `*` in a name stands for anything. */
export interface ConsentRule {
  readonly name: string
  readonly tool?: string
  readonly effect?: readonly string[]
  readonly risk?: readonly string[]
  readonly principal?: string
  readonly door?: readonly string[]
  /** Any of these holds of the call; see `Taint`. */
  readonly after?: readonly ('tainted' | 'untrusted' | 'suspect')[]
  readonly decision: 'allow' | 'ask' | 'deny'
  /** Who may answer, by principal id; absent: any person but, where `selfApproval` is false, the one who asks. */
  readonly approvers?: readonly string[]
  readonly channels: readonly Channel[]
  /** May the principal who asks also say yes? A single developer needs it; a team does not. */
  readonly selfApproval: boolean
  /** How long the question stands, in milliseconds. */
  readonly expiresMs: number
}

/** All that a yes is bound to. The approval is good for a call whose binding is equal, and for no other. */
export interface Binding {
  readonly tenant: string
  readonly principal: string
  readonly tool: string
  readonly pin: Digest
  readonly argumentsDigest: Digest
  readonly scopesDigest: Digest
  readonly risk: string
  readonly policyVersion: string
  /** Set where the same call has run before and this is asked because of it. */
  readonly repeatOf?: string
  /** The operation that the call undoes. */
  readonly reverses?: string
}

/** What is asked of a person, made of canonical arguments and scopes; no word of it is the model's or the server's alone. */
export interface Question {
  readonly binding: Binding
  readonly bindingDigest: Digest
  readonly rule: ConsentRule
  readonly text: string
  readonly callId: string | undefined
}

export type Approval = {
  readonly id: string
  readonly question: Question
  readonly askedAt: number
  readonly expiresAt: number
} & (
  | { readonly state: 'waiting' }
  | { readonly state: 'granted'; readonly by: string; readonly channel: Channel; readonly decidedAt: number }
  | {
      readonly state: 'denied'
      readonly by: string
      readonly channel: Channel
      readonly decidedAt: number
      readonly why: string
    }
  | {
      readonly state: 'used'
      readonly by: string
      readonly channel: Channel
      readonly decidedAt: number
      readonly operation: string
    }
  | { readonly state: 'expired' }
)

export type Consent =
  /** The caller's key names an operation that there is already: nothing new will be sent under it, so nobody is asked. */
  | { readonly kind: 'under-key'; readonly operation: string }
  | { readonly kind: 'not-needed'; readonly rule: string }
  | { readonly kind: 'approved'; readonly approval: string; readonly by: string; readonly channel: Channel }

export interface Consented extends Scoped {
  readonly consent: Consent
  readonly repeatOf: string | undefined
}

/** An earlier operation with the same principal, tool, arguments and scopes, inside the repeat window. */
export interface Earlier {
  readonly operation: string
  readonly state: string
  /** running: nobody knows yet since it still runs · unknown: it ended without an answer · settled: it ended with one. */
  readonly standing: 'running' | 'unknown' | 'settled'
  readonly at: number
}

/** The ports of the consent gate. Both answer from the ledger, at once. */
export interface Approvals {
  /** The newest approval with this binding that has not expired: granted before denied before waiting. */
  matching(bindingDigest: Digest, now: number): Approval | undefined
}
export interface History {
  /** The operation that the caller's key names, where there is one: whether for this same call is for the side-effect gate. */
  underKey(scoped: Scoped): string | undefined
  earlier(scoped: Scoped, now: number): Earlier | undefined
}
