import { z } from 'zod'
import { serverSummarySchema } from './catalogue.ts'
import { reloadReportSchema } from './configuration.ts'
import { instant } from './values.ts'

export const statusSchema = z.strictObject({
  version: z.string(),
  pid: z.number(),
  startedAt: instant,
  home: z.string(),
  config: z.string(),
  /** Where MCP clients connect, e.g. http://127.0.0.1:7420/mcp */
  url: z.string(),
  ledger: z.strictObject({
    state: z.enum(['ok', 'unavailable', 'rolled_back']),
    why: z.string().exactOptional(),
    records: z.number(),
    reads: z.enum(['grouped', 'strict']),
  }),
  evidence: z.strictObject({
    /** Fingerprint of the public key. */
    key: z.string(),
    /** How many records the newest checkpoint covers. */
    checkpointed: z.number(),
  }),
  policy: z.strictObject({ version: z.string(), problems: z.array(z.string()).readonly() }),
  servers: z.array(serverSummarySchema).readonly(),
  /** What became of the last change of the configuration, where there was one. */
  reload: reloadReportSchema.exactOptional(),
  waitingApprovals: z.number(),
  unknownOperations: z.number(),
  runningCalls: z.number(),
})
export type Status = z.infer<typeof statusSchema>

/** One budget as one of those who share it has it. */
export const budgetAccountSchema = z.strictObject({
  budget: z.string(),
  holder: z.string(),
  windowEndsAt: instant,
  used: z.strictObject({ calls: z.number(), wallMs: z.number(), resultBytes: z.number() }),
  running: z.number(),
  limits: z.strictObject({
    windowMs: z.number(),
    calls: z.number().exactOptional(),
    wallMs: z.number().exactOptional(),
    resultBytes: z.number().exactOptional(),
    sameCall: z.number().exactOptional(),
    concurrency: z.number().exactOptional(),
  }),
})
export type BudgetAccount = z.infer<typeof budgetAccountSchema>

export const policyReportSchema = z.strictObject({
  ok: z.boolean(),
  version: z.string(),
  policies: z.number(),
  problems: z
    .array(
      z.strictObject({
        severity: z.enum(['error', 'warning']),
        message: z.string(),
        file: z.string().exactOptional(),
        line: z.number().exactOptional(),
      }),
    )
    .readonly(),
})
export type PolicyReport = z.infer<typeof policyReportSchema>
