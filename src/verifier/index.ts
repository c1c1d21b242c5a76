export type { CheckpointText, Judgement } from './judgement.ts'
export { type Trust, verifyExport } from './verify.ts'
