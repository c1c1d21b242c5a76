import { z } from 'zod'
import { authViewSchema } from './logins.ts'
import { instant, jsonObject } from './values.ts'

export const capabilityKind = z.enum(['tool', 'prompt', 'resource'])

export const differenceSchema = z.strictObject({
  /** JSON pointer into the definition. */
  at: z.string(),
  approved: z.string().exactOptional(),
  live: z.string().exactOptional(),
})

const counts = z.strictObject({ approved: z.number(), pending: z.number(), changed: z.number() })

export const serverSummarySchema = z.strictObject({
  name: z.string(),
  state: z.enum(['connecting', 'ready', 'down', 'closed']),
  /** Why it is down, or, of one that is ready, why a list of it could not be read. */
  why: z.string().exactOptional(),
  nextTryAt: instant.exactOptional(),
  transport: z.enum(['stdio', 'http', 'sse', 'memory']).exactOptional(),
  revision: z.string().exactOptional(),
  /** What the server calls itself, with its version; believed by nobody. */
  serverInfo: jsonObject.exactOptional(),
  pid: z.number().exactOptional(),
  /** The last line of standard error of one that is not ready, secrets masked. */
  lastWords: z.string().exactOptional(),
  tools: counts,
})
export type ServerSummary = z.infer<typeof serverSummarySchema>

export const serverDetailSchema = serverSummarySchema.extend({
  identity: jsonObject,
  /** Digest of the identity as it is now, and of the one that was approved. */
  identityDigest: z.string(),
  approvedIdentityDigest: z.string().exactOptional(),
  instructions: z.string().exactOptional(),
  capabilities: jsonObject.exactOptional(),
  connectedAt: instant.exactOptional(),
  auth: authViewSchema.exactOptional(),
  naming: z.enum(['prefixed', 'bare']),
  resources: z.enum(['allow', 'deny']),
  prompts: z.enum(['allow', 'deny']),
  /** How it is confined, as it runs. */
  sandbox: z.enum(['bubblewrap', 'none']),
  /** Why it is not confined, though it should be. */
  sandboxWhy: z.string().exactOptional(),
  /** What the configuration asks for. */
  sandboxWanted: z.enum(['require', 'prefer', 'none']),
  /** How fresh each list is: when it was read, when it is read again, and how long the server says that it may be kept. */
  lists: z
    .array(
      z.strictObject({
        list: z.enum(['tools', 'prompts', 'resources']),
        items: z.number().exactOptional(),
        readAt: instant.exactOptional(),
        nextAt: instant.exactOptional(),
        ttlMs: z.number().exactOptional(),
        why: z.string().exactOptional(),
      }),
    )
    .readonly(),
  /** One connection for all principals, or those that principals have to themselves just now. */
  connections: z.strictObject({ shared: z.boolean(), open: z.number(), most: z.number() }),
  /** What came that was no answer: lines that are no message, answers to nothing, messages beyond the limit. */
  strays: z.strictObject({ noise: z.number(), answers: z.number(), oversize: z.number() }),
  /** Tools that no client sees, since their definition may not be used over HTTP. */
  leftOut: z.array(z.strictObject({ name: z.string(), why: z.string() })).readonly(),
  /** The last lines of its standard error, secrets masked. */
  errorOutput: z.array(z.string()).readonly(),
  differences: z.array(differenceSchema).readonly(),
})
export type ServerDetail = z.infer<typeof serverDetailSchema>

export const toolSummarySchema = z.strictObject({
  /** SERVER/NAME by the upstream's own names. */
  key: z.string(),
  kind: capabilityKind,
  server: z.string(),
  name: z.string(),
  exportedName: z.string(),
  /** quarantined: a person took the approval back · gone: approved, and the server no longer offers it. */
  state: z.enum(['approved', 'pending', 'changed', 'quarantined', 'gone', 'unavailable']),
  effect: z.string(),
  risk: z.string(),
  /** Does a profile in the configuration say so, or is it the default? */
  declared: z.boolean(),
  description: z.string().exactOptional(),
  /** Digest that was approved, and the digest of what the server says now. */
  pin: z.string().exactOptional(),
  livePin: z.string().exactOptional(),
  approvedBy: z.string().exactOptional(),
  approvedAt: instant.exactOptional(),
})
export type ToolSummary = z.infer<typeof toolSummarySchema>

export const toolDetailSchema = toolSummarySchema.extend({
  profile: jsonObject,
  approved: jsonObject.exactOptional(),
  live: jsonObject.exactOptional(),
  differences: z.array(differenceSchema).readonly(),
})
export type ToolDetail = z.infer<typeof toolDetailSchema>

export const toolRefSchema = z.strictObject({
  server: z.string().min(1).max(256),
  name: z.string().min(1).max(1024),
  kind: capabilityKind.default('tool'),
})
export type ToolRef = z.infer<typeof toolRefSchema>

export const approveToolSchema = z.strictObject({
  /** The live digest that the approver has seen. If the server says something else by now, nothing is approved. */
  pin: z.string().regex(/^[0-9a-f]{64}$/),
})
export type ApproveTool = z.infer<typeof approveToolSchema>

export const quarantineToolSchema = z.strictObject({ why: z.string().max(1000).default('') })

export const toolSearchSchema = z.strictObject({
  /** What is to be done, in any words. */
  query: z.string().min(1).max(4000),
  limit: z.coerce.number().int().min(1).max(20).exactOptional(),
  server: z.string().max(256).exactOptional(),
  detail: z.enum(['name', 'declaration', 'schema']).exactOptional(),
  /** What the answer may cost, as bytes / 4. */
  tokens: z.coerce.number().int().min(1).max(1_000_000).exactOptional(),
  /** Matches even where none is likely. */
  unsure: z.enum(['yes', 'no']).exactOptional(),
})
export type ToolSearchQuery = z.infer<typeof toolSearchSchema>

export const toolSearchAnswerSchema = z.strictObject({
  /** Best first. Empty where nothing fits; `why` says so then. */
  matches: z
    .array(
      z.strictObject({
        key: z.string(),
        exportedName: z.string(),
        server: z.string(),
        score: z.number(),
        /** Name, TypeScript declaration or whole definition, as it was asked for. */
        text: z.string(),
      }),
    )
    .readonly(),
  /** Tools that the asker may see. */
  searched: z.number(),
  confidence: z.number(),
  /** Below it nothing fits. */
  floor: z.number(),
  /** By how much the first match is ahead of the second, from 0 to 1. */
  margin: z.number(),
  why: z.string().exactOptional(),
  /** Matches left out for the size of the answer. */
  left: z.number(),
})
export type ToolSearchAnswer = z.infer<typeof toolSearchAnswerSchema>

export const toolFilterSchema = z.strictObject({
  server: z.string().max(256).exactOptional(),
  kind: capabilityKind.exactOptional(),
  state: toolSummarySchema.shape.state.exactOptional(),
})
export type ToolFilter = z.infer<typeof toolFilterSchema>
