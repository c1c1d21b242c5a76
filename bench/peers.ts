import { join } from 'node:path'
import type { Target } from './target.ts'

const modules = join(import.meta.dirname, '..', 'node_modules')
const stdioUpstream = ['{node}', '{upstreamJs}', '--transport', 'stdio', '--tools', '{upstreamTools}']

const options = (line: string): string[] => line.split(' ')

/** The upstream without anything in front of it. */
export const direct: Target = { name: 'direct', direct: true, endpoint: '{upstreamUrl}' }

/** mcp-hub with one server; it has the older SSE transport downstream only. */
function hub(name: string, server: object): Target {
  return {
    name,
    transport: 'sse',
    prefix: 'up__',
    files: [{ path: '{work}/servers.json', text: JSON.stringify({ mcpServers: { up: server } }) }],
    env: { XDG_STATE_HOME: '{work}/state', XDG_CONFIG_HOME: '{work}/config', HOME: '{work}' },
    start: ['{node}', join(modules, 'mcp-hub/dist/cli.js'), '--port', '{port}', '--config', '{work}/servers.json'],
    endpoint: 'http://127.0.0.1:{port}/mcp',
  }
}

/** Gateways and proxies that judge nothing, as their own pages recommend to start them. */
export const peers: readonly Target[] = [
  hub('mcp-hub (http up)', { url: '{upstreamUrl}' }),
  hub('mcp-hub (stdio up)', { command: stdioUpstream[0], args: stdioUpstream.slice(1) }),
  {
    name: 'mcp-proxy (stdio up)',
    start: [
      '{node}',
      join(modules, 'mcp-proxy/dist/bin/mcp-proxy.mjs'),
      ...options('--port {port} --host 127.0.0.1 --server stream --'),
      ...stdioUpstream,
    ],
    endpoint: 'http://127.0.0.1:{port}/mcp',
  },
  {
    // Without --stateful it starts a process for every request, and is slower by a factor of a hundred.
    name: 'supergateway (stdio up)',
    start: [
      '{node}',
      join(modules, 'supergateway/dist/index.js'),
      '--stdio',
      stdioUpstream.join(' '),
      ...options('--outputTransport streamableHttp --stateful --logLevel none --port {port}'),
    ],
    endpoint: 'http://127.0.0.1:{port}/mcp',
  },
]
