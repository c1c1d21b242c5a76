import { createServer } from 'node:http'

export interface MetricsDoor {
  readonly url: string
  close(): Promise<void>
}

/** `GET /metrics` for Prometheus on a port of its own, so that the MCP door stays what it is. */
export async function openMetricsDoor(
  { host, port }: { readonly host: string; readonly port: number },
  text: () => string,
): Promise<MetricsDoor> {
  const server = createServer(
    { requestTimeout: 10_000, headersTimeout: 10_000 },
    ({ method, url, headers }, response) => {
      // A page that a browser was tricked to load names its own host (DNS rebinding).
      const named = (headers.host ?? '').replace(/:\d+$/, '').replace(/^\[(.*)\]$/, '$1')
      const local = ['127.0.0.1', '::1', 'localhost', host].includes(named)
      if (method !== 'GET' || url !== '/metrics' || !local || headers.origin !== undefined) {
        response.writeHead(404).end()
        return
      }
      response.writeHead(200, {
        'content-type': 'text/plain; version=0.0.4; charset=utf-8',
        'cache-control': 'no-store',
      })
      response.end(text())
    },
  )
  server.maxConnections = 16
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const bound = server.address() as { port: number }
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}/metrics`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}
