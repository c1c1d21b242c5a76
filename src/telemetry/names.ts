/**
 * Names of the OpenTelemetry conventions for MCP and generative AI as they stand (`open-telemetry/semantic-conventions-genai`, in
 * development), and ours for what they do not name: gates, verdicts and refusals.
 */
export const names = {
  method: 'mcp.method.name',
  tool: 'gen_ai.tool.name',
  operation: 'gen_ai.operation.name',
  error: 'error.type',
  gate: 'countersign.gate',
  verdict: 'countersign.verdict',
  refusal: 'countersign.refusal.code',
  outcome: 'countersign.outcome',
  door: 'countersign.door',
  operationId: 'countersign.operation',
  serverDuration: 'mcp.server.operation.duration',
  executeDuration: 'gen_ai.execute_tool.duration',
  gateDuration: 'countersign.gate.duration',
} as const

/** Seconds; the buckets that the conventions give. */
export const durationBuckets = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300] as const

/** Seconds. A gate takes microseconds; the buckets above would put all of them into the first. */
export const gateBuckets = [0.00001, 0.00005, 0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 1] as const
