import { type IncomingMessage, type ServerResponse, request as ask } from 'node:http'
import { pipeline } from 'node:stream'
import { type Served, serveOn } from '../fixtures/conformance/served.ts'

/**
 * Stands before a gateway for clients that know no tokens: adds the one, where one is given, and passes on all else as it is,
 * the Host and the Origin that a client named among it. `seen` is told the revision in the headers of each request.
 */
export function doorwayTo(gateway: string, token?: string, seen?: (revision: string) => void): Promise<Served> {
  const { hostname, port } = new URL(gateway)
  return serveOn((request: IncomingMessage, response: ServerResponse) => {
    const headers = [...request.rawHeaders, ...(token === undefined ? [] : ['authorization', `Bearer ${token}`])]
    const revision = request.headers['mcp-protocol-version']
    if (typeof revision === 'string') seen?.(revision)
    const onward = ask({ hostname, port, method: request.method, path: request.url, headers, agent: false })
    onward.once('response', (answer) => {
      response.writeHead(answer.statusCode!, answer.rawHeaders)
      response.flushHeaders()
      pipeline(answer, response, () => {})
    })
    onward.once('error', () => response.destroy())
    response.once('close', () => onward.destroy())
    pipeline(request, onward, () => {})
  })
}
