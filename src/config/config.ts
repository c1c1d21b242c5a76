import type { Budget } from '../flow/budget/accounts.ts'
import type { ConsentRule } from '../flow/consent/consented.ts'
import type { AskGrant } from '../flow/receipt/ask-grant.ts'
import type { Root } from '../flow/resource/scoped.ts'
import type { ToolProfile } from '../flow/tool/profile.ts'
import type { UpstreamSpec } from '../mcp/upstream/upstream.ts'
import type { Confinement } from '../sandbox/confinement.ts'
import type { Revision } from '../mcp/wire/revisions.ts'
import type { JsonObject } from '../words/json.ts'
import type { AuthConfig } from './auth.ts'
import type { Secret } from '../words/secret.ts'
import type { EndpointAuth } from './endpoint-auth.ts'
import type { SecretReference } from '../identity/secrets/reference.ts'

/** The configuration in force: defaults filled in, paths absolute, durations in milliseconds, sizes in bytes. Frozen. */
export interface Config {
  /** Absolute path of the file, and of its folder. */
  readonly file: string
  readonly folder: string
  readonly endpoint: EndpointConfig
  readonly principals: readonly PrincipalConfig[]
  readonly roots: readonly Root[]
  /** Folder of the *.cedar files. */
  readonly policy: string
  /** File with the approved definitions. */
  readonly lock: string
  /** In the order of the file. */
  readonly servers: readonly ServerConfig[]
  /** Servers that are written down with `enabled: false`: nobody has let them start yet. */
  readonly waiting: readonly string[]
  /** By SERVER/TOOL: the only content types that its results may hold. A tool that is not in it may answer with any. */
  readonly contentTypes?: ReadonlyMap<string, readonly string[]>
  readonly consent: { readonly waitMs: number; readonly rules: readonly ConsentRule[] }
  readonly budgets: readonly Budget[]
  readonly limits: LimitsConfig
  /** The model of this host, for servers that may ask it. */
  readonly sampling?: { readonly model: string; readonly maxTokens: number; readonly waitMs: number }
  readonly ledger: { readonly reads: 'grouped' | 'strict'; readonly repeatWindowMs: number }
  readonly evidence: { readonly checkpointEvery: number; readonly checkpointSeconds: number }
  readonly catalogue: { readonly refreshMs: number }
  readonly exposure: ExposureConfig
  readonly notify: readonly NoticeWay[]
  readonly telemetry: { readonly prometheus?: { readonly host: string; readonly port: number } }
  readonly reload: { readonly watch: boolean; readonly loosening: 'hold' | 'apply' }
  readonly search: { readonly embedder?: EmbedderConfig }
}

export type NoticeWay = { readonly on: readonly ('approval' | 'drift' | 'unknown' | 'budget')[] } & (
  | { readonly to: 'desktop' }
  | {
      readonly to: 'webhook'
      readonly url: string
      readonly headers: Readonly<Record<string, Secret | SecretReference>>
    }
  | { readonly to: 'command'; readonly command: readonly string[] }
)

export type EmbedderConfig =
  | { readonly kind: 'endpoint'; readonly url: string; readonly model: string; readonly key?: Secret }
  | { readonly kind: 'packaged' }

export type ExposureMode = 'all' | 'search' | 'auto' | 'code'

export interface ExposureConfig {
  readonly mode: ExposureMode
  /** With `auto`: the most that a list may cost, as bytes / 4. */
  readonly tokens: number
  readonly clients: ReadonlyMap<string, ExposureMode>
  readonly principals: ReadonlyMap<string, ExposureMode>
}

export interface EndpointConfig {
  readonly host: string
  /** 0 takes any free port. */
  readonly port: number
  /** Empty means all. */
  readonly revisions: readonly Revision[]
  readonly allowedOrigins: readonly string[]
  readonly allowedHosts: readonly string[]
  /** Access tokens of authorization servers that are taken. */
  readonly auth?: EndpointAuth
}

export interface PrincipalConfig {
  readonly id: string
  readonly tenant: string
  readonly kind: 'service' | 'user'
  readonly groups: readonly string[]
  /** Milliseconds since 1970; absent where the token does not expire. */
  readonly expiresAt?: number
  /** The token itself is not read before it is needed. */
  readonly token:
    | { readonly kind: 'file'; readonly path: string }
    | { readonly kind: 'sha256'; readonly digest: string }
}

/** One upstream: how it is reached, what is declared of it, and by what it is known. */
export interface ServerConfig {
  readonly spec: UpstreamSpec
  /**
   * What makes it this server: the command and arguments, or the URL, as written (so that it is equal on every machine),
   * the names of its variables or headers, and the package with its installed version. A digest of it goes into every pin.
   */
  readonly identity: JsonObject
  /** How a token for it is got, where it wants one. */
  readonly auth?: AuthConfig
  readonly sandbox: 'require' | 'prefer' | 'none'
  /** What a program may reach. Absent: it is not confined, because the configuration says so or it is no program. */
  readonly confinement?: Confinement
  readonly resources: 'allow' | 'deny'
  readonly prompts: 'allow' | 'deny'
  /** One connection for all principals. */
  readonly shared: boolean
  /** Principals besides the first that may have a connection of their own at one time, and for how long without a call. */
  readonly connections: number
  readonly idleMs: number
  readonly naming: 'prefixed' | 'bare'
  readonly asks: AskGrant
  /** By the tool's own name. What is not in it is `undeclared`. */
  readonly tools: ReadonlyMap<string, ToolProfile>
}

export interface LimitsConfig {
  readonly argumentBytes: number
  readonly argumentDepth: number
  readonly resultBytes: number
  readonly resultHardBytes: number
  readonly unansweredCalls: number
  readonly unansweredPause: number
  readonly sessions: number
  /** What servers ask while one call is under way: how often, of how many bytes each, and how long an answer is waited for. */
  readonly asksPerCall: number
  readonly askBytes: number
  readonly askWait: number
}
