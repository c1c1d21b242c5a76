import { z } from 'zod'
import { json, jsonObject } from './values.ts'

export const evidenceFilterSchema = z.strictObject({
  operation: z.string().max(64).exactOptional(),
  approval: z.string().max(64).exactOptional(),
  /** Records with this number and later ones; without it, the last ones. */
  from: z.coerce.number().int().min(0).exactOptional(),
  limit: z.coerce.number().int().min(1).max(1000).default(50),
})
export type EvidenceFilter = z.infer<typeof evidenceFilterSchema>

/** Records of the chain as they are exported, in order. */
export const evidenceSchema = z.strictObject({ records: z.array(jsonObject).readonly() })
export type EvidenceList = z.infer<typeof evidenceSchema>

export const judgementSchema = z.strictObject({
  verdict: z.enum(['valid', 'tampered', 'incomplete', 'unjudgeable']),
  records: z.number(),
  firstBad: z.number().exactOptional(),
  why: z.array(z.string()).readonly(),
  key: z.string().exactOptional(),
  checkpoint: json.exactOptional(),
})
