/** Error codes of JSON-RPC 2.0 and of the MCP schemas (2025-11-25 and 2026-07-28). */
export const errorCodes = {
  parse: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  /** 2026-07-28: a header is missing, malformed or differs from the body. */
  headerMismatch: -32020,
  /** 2026-07-28: `data.requiredCapabilities` says what the client would have had to declare. */
  missingClientCapability: -32021,
  /** 2026-07-28: `data.supported` lists what the server speaks. */
  unsupportedVersion: -32022,
  /** Until 2025-11-25 only; now `invalidParams`. */
  resourceNotFound: -32002,
  /** Until 2025-11-25 only. */
  urlElicitationRequired: -32042,
} as const

/** Codes that only a server of the 2026-07-28 era sends: proof of the era, whatever else went wrong. */
export function isModernErrorCode(code: number): boolean {
  return (
    code === errorCodes.headerMismatch ||
    code === errorCodes.missingClientCapability ||
    code === errorCodes.unsupportedVersion
  )
}

/** A string or an integer; 0 is one like any other. */
export type RequestId = string | number

export function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** `params` and `result` below are JSON text and go in as they are: what was judged is what is sent. */
export function requestText(id: RequestId, method: string, params: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"method":${JSON.stringify(method)},"params":${params}}`
}

export function notificationText(method: string, params?: string): string {
  return params === undefined
    ? `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`
    : `{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`
}

export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`
}

export function errorText(id: RequestId | null, code: number, message: string, data?: string): string {
  const tail = data === undefined ? '' : `,"data":${data}`
  return `{"jsonrpc":"2.0","id":${idText(id)},"error":{"code":${code},"message":${JSON.stringify(message)}${tail}}}`
}

export function idText(id: RequestId | null): string {
  return typeof id === 'string' ? JSON.stringify(id) : String(id)
}
