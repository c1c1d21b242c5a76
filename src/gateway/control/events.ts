import type { IncomingMessage } from 'node:http'
import { ControlFault } from './fault.ts'

const mostUnreadChars = 4 * 1024 * 1024

/**
 * The data of every server-sent event of that name, as JSON. Ends quietly when the signal aborts; throws a ControlFault
 * when the gateway goes away.
 */
export async function* eventsOf<Value>(
  response: IncomingMessage,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Value> {
  response.setEncoding('utf8')
  let unread = ''
  try {
    for await (const part of response as AsyncIterable<string>) {
      unread += part
      if (unread.length > mostUnreadChars) throw new ControlFault('TOO_LARGE', 'an event of the gateway is too large')
      for (let end = unread.indexOf('\n\n'); end >= 0; end = unread.indexOf('\n\n')) {
        const event = unread.slice(0, end)
        unread = unread.slice(end + 2)
        const data = dataOf(event, name)
        if (data !== undefined) yield JSON.parse(data) as Value
      }
    }
  } catch (error) {
    if (signal.aborted) return
    throw error instanceof ControlFault ? error : lost(error)
  } finally {
    response.destroy()
  }
  if (!signal.aborted) throw lost()
}

function lost(cause?: unknown): ControlFault {
  return new ControlFault('GATEWAY_LOST', 'the gateway has ended', undefined, cause)
}

function dataOf(event: string, name: string): string | undefined {
  const lines = event.split('\n')
  if (!lines.includes(`event: ${name}`)) return undefined
  return lines
    .filter((line) => line.startsWith('data: '))
    .map((line) => line.slice('data: '.length))
    .join('\n')
}
