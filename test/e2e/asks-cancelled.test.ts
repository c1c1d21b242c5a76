import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { effects, everything, openAsking } from '../fixtures/asking-site.ts'

// A caller that leaves while its server waits for it: the question ends, and the call does not.

for (const mode of ['legacy', { pin: '2026-07-28' }] as const) {
  for (const era of ['legacy', 'modern'] as const) {
    const client = mode === 'legacy' ? 'a client of 2025-11-25' : 'a client of 2026-07-28'
    test(`${client} cancels while a ${era} server waits for its answer: the server hears cancel, and is not cut off`, async (t) => {
      const wait = mode === 'legacy' ? {} : { config: { limits: { askWait: '500ms' } } }
      const { gateway, site } = await openAsking(t, era, 'http', everything, wait)
      const capabilities = { elicitation: { form: {} } }
      const one = new Client({ name: 'c', version: '1' }, { capabilities, versionNegotiation: { mode } })
      const leaving = new AbortController()
      const withdrawn = Promise.withResolvers<void>()
      one.setRequestHandler('elicitation/create', (_request, context) => {
        context.mcpReq.signal.addEventListener('abort', () => withdrawn.resolve())
        leaving.abort(new Error('the person closed the window'))
        return new Promise(() => {})
      })
      const token = readFileSync(join(site.home, 'token'), 'utf8').trim()
      const requestInit = { headers: { authorization: `Bearer ${token}` } }
      await one.connect(new StreamableHTTPClientTransport(new URL(gateway.url), { requestInit }))
      t.after(() => one.close())
      const call = one.callTool({ name: 'desk__weigh', arguments: {} }, { signal: leaving.signal })
      // The official client of the newer era waits for its own handler, whatever it is told meanwhile.
      if (mode === 'legacy') await assert.rejects(call)
      else call.catch(() => {})

      const until = Date.now() + 60_000
      while (effects(site).length === 0 && Date.now() < until) await sleep(20)
      assert.deepEqual(effects(site), ['weigh'])
      const records = await gateway.control.evidence({ limit: 200 })
      const { facts } = records.find(({ kind }) => kind === 'op.asked') as { facts: Record<string, unknown> }
      assert.deepEqual([facts['answer'], facts['why']], ['cancel', 'nobody answered'])
      // The question that is over is taken back.
      if (mode === 'legacy') await withdrawn.promise
    })
  }
}
