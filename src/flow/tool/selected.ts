import type { Digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import type { Identified, Principal } from '../principal/principal.ts'
import type { Target } from '../proposal/proposal.ts'
import type { ToolProfile } from './profile.ts'

export type CapabilityKind = 'tool' | 'prompt' | 'resource'

/** One field in which the live definition differs from the approved one. */
export interface Difference {
  /** JSON pointer into the definition. */
  readonly at: string
  readonly approved: string | undefined
  readonly live: string | undefined
}

/** What ajv said, shortened: at most ten lines of `pointer: what is wrong`. Empty means valid. */
export type SchemaCheck = (value: unknown) => readonly string[]

/** A capability of an upstream whose live definition is the approved one. */
export interface ApprovedTool {
  readonly kind: CapabilityKind
  /** `server/name`: by the upstream's own names, unique here. For resources the name is `resources/read`. */
  readonly key: string
  readonly server: string
  readonly name: string
  readonly exportedName: string
  /** Digest of the canonical definition, of the server's identity and of its instructions. */
  readonly pin: Digest
  readonly serverIdentity: Digest
  readonly serverVersion: string
  readonly definition: JsonObject
  readonly profile: ToolProfile
  readonly checkArguments: SchemaCheck
  /** Present where the approved definition has an output schema. */
  readonly checkResult?: SchemaCheck
}

/** What of a capability is known before, and also without, its approval: enough to ask who may know of it. */
export type Named = Pick<ApprovedTool, 'kind' | 'key' | 'server' | 'name' | 'profile'>

export interface Selected extends Identified {
  readonly tool: ApprovedTool
}

/** Every state but `unknown` says what it is about, since a principal who may not see that gets `unknown` instead. */
export type Found =
  | { readonly state: 'approved'; readonly tool: ApprovedTool }
  | { readonly state: 'unknown' }
  | { readonly state: 'pending'; readonly about: Named; readonly why: string }
  | { readonly state: 'changed'; readonly about: Named; readonly differences: readonly Difference[] }
  | { readonly state: 'server-changed'; readonly about: Named; readonly differences: readonly Difference[] }
  | { readonly state: 'unavailable'; readonly about: Named; readonly why: string }
  | { readonly state: 'not-negotiated'; readonly about: Named; readonly capability: string }

/** The port of the tool gate. `find` answers from memory; `refresh` asks the upstream again where that is due. */
export interface Catalogue {
  find(target: Target): Found
  /** Grows with every change of pins, lists or profiles: cached decisions are valid for one version only. */
  readonly version: number
  /**
   * Asks the upstream for its list again when the one at hand is older than is allowed for a call with an effect.
   * Answers undefined at once where nothing is due, so that a read costs no promise. Rejects where the upstream could not
   * be asked: the call is refused then.
   */
  refresh(tool: ApprovedTool, signal: AbortSignal): Promise<void> | undefined
}

/** Who may know of a tool at all. What a principal does not see is unknown to it, in every list and in every call. */
export interface Visibility {
  sees(principal: Principal, tool: Named): boolean
}
