import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { test } from 'node:test'
import { fixture, makeSite } from '../fixtures/site.ts'
import { openApproved, tokenOf, until } from '../hostile/attack.ts'
import { LEGACY, rpc } from '../hostile/client.ts'

// 10,000 with SESSIONS=10000, which takes about a minute; the bounds are the same.
const count = Number(process.env['SESSIONS'] ?? 1_500)

test('T15: sessions that are opened, used once and left behind cost no memory, no process and no place for good', async (t) => {
  const site = makeSite(
    t,
    () => `
limits: { sessions: 200 }
servers:
  a: { command: node, args: [${fixture('honest')}], tools: { echo: { effect: read } } }
consent: { rules: [{ name: all passes, decision: allow }] }
`,
  )
  const gateway = await openApproved(t, site)
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  t.after(() => agent.destroy())
  const token = tokenOf(site)
  const post = (
    body: string,
    more: Record<string, string>,
  ): Promise<{ status: number; session: string; text: string }> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...more,
      }
      const asked = request(gateway.url, { method: 'POST', agent, headers }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (piece: string) => (text += piece))
        response.on('end', () =>
          resolve({ status: response.statusCode!, session: String(response.headers['mcp-session-id']), text }),
        )
      })
      asked.on('error', reject)
      asked.end(body)
    })
  const hello = { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'leaver', version: '1' } }
  const one = async (): Promise<void> => {
    const { status, session } = await post(rpc('initialize', hello), {})
    assert.equal(status, 200)
    const params = { name: 'a__echo', arguments: { text: 'hi' } }
    const { text } = await post(rpc('tools/call', params), {
      'mcp-session-id': session,
      'mcp-protocol-version': LEGACY,
    })
    // The oldest of so many may have lost its place before it was used.
    assert.ok(/"hi"/.test(text) || /initialize again/.test(text), text)
  }
  const many = async (n: number): Promise<void> => {
    for (let done = 0; done < n; done += 8) await Promise.all(Array.from({ length: Math.min(8, n - done) }, one))
  }
  const { gc } = globalThis as { gc?: () => void }
  const heap = (): number => {
    gc?.()
    return process.memoryUsage().heapUsed
  }
  await many(count / 3)
  const [before, pid] = [heap(), (await gateway.control.server('a'))!.pid]
  await many((count * 2) / 3)
  assert.ok(gateway.sessions() <= 50, `${gateway.sessions()} sessions are open`)
  assert.equal((await gateway.control.server('a'))!.pid, pid)
  assert.equal(gateway.core.apart.get('a')!.figures.open, 0)
  await until('nothing runs any more', async () => (await gateway.control.status()).runningCalls === 0)
  const grown = heap() - before
  if (gc !== undefined) assert.ok(grown < 16 << 20, `${grown} bytes more`)
  assert.ok(grown < 128 << 20, `${grown} bytes more`)
})
