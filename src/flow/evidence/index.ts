export { type Checkpoint, fingerprint, openCheckpoint, signCheckpoint } from './checkpoint.ts'
export { Frontier } from './merkle.ts'
export { type EventKind, type EvidenceRecord, type Happening, firstPrev, leafOf, recordLine } from './record.ts'
export {
  ChainReader,
  exportFormat,
  type ExportHeader,
  type ExportTrailer,
  type Judgement,
  verifyExport,
} from './verify.ts'
