import type { Digest } from '../../words/digest.ts'
import type { Refusal } from '../../words/verdict.ts'
import type { Selected } from '../tool/selected.ts'
import type { Access, ScopeKind } from '../tool/profile.ts'
import type { Taint } from './taint.ts'

/** One concrete thing that the call touches, and the access it wants. */
export interface Scope {
  readonly kind: ScopeKind
  /** Resolved: a real absolute path, a normalised URL or host, a name. */
  readonly value: string
  readonly access: Access
  /** Names of the declared roots that hold it, by whole segments of the real path. Empty for other kinds. */
  readonly within: readonly string[]
  /** A file with a second name (a hard link), which may lie outside every root; policies may forbid it. Writes are refused. */
  readonly hardLinked?: true
}

export interface Scoped extends Selected {
  readonly scopes: readonly Scope[]
  /** Digest of the canonical scopes: an approval is bound to it. */
  readonly scopesDigest: Digest
  readonly policyVersion: string
  /** Absent where no result has taught anything. */
  readonly taint?: Taint
}

/** A folder of the operator's that scopes are measured against. */
export interface Root {
  readonly name: string
  /** Absolute; its real path is taken at each decision, since a link may be put there later. */
  readonly path: string
}

/** The port of the resource gate: turns what the arguments say into what they mean. May read the file system's names. */
export interface Scopes {
  resolve(selected: Selected): readonly Scope[] | Refusal
}

export type PolicyAnswer =
  | { readonly kind: 'permit'; readonly policies: readonly string[] }
  | { readonly kind: 'deny'; readonly policies: readonly string[]; readonly scope: Scope | undefined }
  | { readonly kind: 'error'; readonly messages: readonly string[] }

/** The port to the policy engine. `version` is a digest of the policies' text; it changes with them. */
export interface Policies {
  readonly version: string
  decide(selected: Selected, scopes: readonly Scope[], catalogueVersion: number, taint?: Taint): PolicyAnswer
}
