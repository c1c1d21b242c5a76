/**
 * The library's face, name by name. What is not here may change without notice.
 */

// Govern the tools of servers in this process.
export { type Countersign, createCountersign, type LibraryOptions, type LibraryServer } from './gateway/library.ts'
// Both ends of a connection in memory; the other end is what the MCP SDKs call a Transport.
export { memoryPair } from './mcp/upstream/memory.ts'
// The agent loop, and the models that it takes.
export { runTask, type Task } from './model/loop.ts'
export type { RunReport } from './model/report.ts'
export { parseModel } from './model/providers/spec.ts'
// Judge an export of evidence by itself, without a database and without a network.
export { type Judgement, verifyExport } from './verifier/index.ts'
// What an answer is made of.
export type { Answer } from './flow/answer.ts'
export type { Step } from './flow/line.ts'
export { type RefusalCode, refusals } from './words/refusals.ts'
