import { z } from 'zod'
import { instant } from './values.ts'

export const reloadSchema = z.strictObject({
  /** Also where it may let through more than before. */
  loosening: z.boolean().default(false),
})
export type ReloadRequest = z.infer<typeof reloadSchema>

/** What became of reading the configuration again. But for `applied`, what was in force before still is. */
export const reloadReportSchema = z.strictObject({
  state: z.enum(['applied', 'unchanged', 'held', 'rejected']),
  at: instant,
  changed: z.array(z.string()).readonly(),
  loosens: z.array(z.string()).readonly(),
  /** Keys that differ in the file, and take effect at the next start. */
  needsRestart: z.array(z.string()).readonly(),
  why: z.string().exactOptional(),
})
export type ReloadReport = z.infer<typeof reloadReportSchema>
