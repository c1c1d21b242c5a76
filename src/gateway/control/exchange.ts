import { type IncomingMessage, request } from 'node:http'
import type { FaultView, Route } from '../../api/contract.ts'
import { ControlFault } from './fault.ts'

/** What is sent: the segments for the `:names` of the path, the query, the body. */
export interface Sent {
  readonly path?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string | number | undefined>>
  readonly body?: object
}

// The contract itself is made with zod, which a short command should not have to load.
const contractHeader = 'countersign-contract'
const contractVersion = '1'
const mostAnswerBytes = 64 * 1024 * 1024

/**
 * One request over the socket, on a connection of its own: nothing is pooled, so nothing is ever sent again by itself.
 * Resolves with the response of a gateway that speaks our contract; rejects with a ControlFault.
 */
export function exchange(
  socket: string,
  route: Pick<Route, 'method' | 'path'>,
  sent: Sent,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const body = sent.body === undefined ? undefined : Buffer.from(JSON.stringify(sent.body))
    const headers = body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.byteLength }
    const outgoing = request({
      socketPath: socket,
      method: route.method,
      path: pathOf(route.path, sent),
      headers,
      agent: false,
      signal,
    })
    outgoing.once('error', (error) => reject(faultOf(error, signal)))
    outgoing.once('response', (response) => {
      response.once('error', () => {})
      if (response.headers[contractHeader] === contractVersion) {
        resolve(response)
        return
      }
      response.destroy()
      const other = response.headers[contractHeader]
      const message =
        other === undefined
          ? 'what listens on the control socket is no gateway'
          : 'the gateway that runs is of another version'
      reject(new ControlFault('GATEWAY_VERSION', message, 'Run `countersign stop`, and try again.'))
    })
    outgoing.end(body)
  })
}

/** The whole answer as text. Rejects when it is cut short, or larger than any answer of ours. */
export async function textOf(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  try {
    for await (const part of response as AsyncIterable<Buffer>) {
      bytes += part.byteLength
      if (bytes > mostAnswerBytes)
        throw new ControlFault('TOO_LARGE', 'the answer of the gateway is too large to be taken in')
      parts.push(part)
    }
  } catch (error) {
    throw error instanceof ControlFault ? error : faultOf(error as Error, signal)
  }
  return Buffer.concat(parts).toString('utf8')
}

/** Throws the ControlFault that an answer holds. */
export function throwIfFault(status: number, value: unknown): void {
  if (isFault(value)) throw new ControlFault(value.code, value.message, value.hint)
  if (status >= 500 && (value as { kind?: unknown }).kind !== 'refused')
    throw new ControlFault('INTERNAL', `the gateway answered with status ${status}`)
}

function isFault(value: unknown): value is FaultView {
  return typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'fault'
}

function faultOf(error: Error, signal: AbortSignal): Error {
  if (signal.aborted) {
    const reason: unknown = signal.reason
    if (reason instanceof DOMException && reason.name === 'TimeoutError')
      return new ControlFault(
        'GATEWAY_SILENT',
        'the gateway did not answer in time',
        'See its log, or end it with `countersign stop`.',
        error,
      )
    return reason instanceof Error ? reason : error
  }
  const { code } = error as NodeJS.ErrnoException
  if (code === 'ENOENT' || code === 'ECONNREFUSED')
    return new ControlFault('GATEWAY_UNREACHABLE', 'no gateway runs here', 'Start one with `countersign up`.', error)
  if (code === 'EACCES')
    return new ControlFault(
      'GATEWAY_UNREACHABLE',
      'the control socket belongs to another user',
      'Use a home of your own: --home DIR.',
      error,
    )
  return new ControlFault(
    'GATEWAY_LOST',
    'the gateway went away before it had answered',
    'See what became of it with `countersign operation list`.',
    error,
  )
}

function pathOf(pattern: string, { path = {}, query = {} }: Sent): string {
  const filled = pattern.replaceAll(/:(\w+)/g, (_match: string, name: string) => encodeURIComponent(path[name] ?? ''))
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return search.size === 0 ? filled : `${filled}?${search.toString()}`
}
