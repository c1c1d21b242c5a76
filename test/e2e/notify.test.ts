import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { approveOffered, fixture, makeSite, openGateway } from '../fixtures/site.ts'

test('a question that waits is told by webhook and command once, without its arguments; a way that hangs holds up nothing', async (t) => {
  const heard: { body: string; authorization: string | undefined }[] = []
  const hook = createServer((request, response) => {
    let body = ''
    request.on('data', (part: Buffer) => (body += part.toString('utf8')))
    request.on('end', () => {
      heard.push({ body, authorization: request.headers.authorization })
      response.end('ok')
    })
  })
  const mute = createServer(() => {})
  for (const server of [hook, mute]) {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  const port = (server: typeof hook): number => (server.address() as AddressInfo).port
  const site = makeSite(t, ({ folder, effects }) => {
    writeFileSync(join(folder, 'note.sh'), '#!/bin/sh\ncat >> "$1"\n', { mode: 0o755 })
    return `
servers:
  notes: { command: node, args: [${fixture('honest')}, --effects, ${effects}] }
consent: { wait: 500ms, rules: [{ name: all asks, decision: ask, channels: [cli], selfApproval: true }] }
budgets: [{ name: few, per: all, window: 1h, calls: 1 }]
notify:
  - { to: webhook, url: 'http://127.0.0.1:${port(mute)}/' }
  - { to: webhook, url: 'http://127.0.0.1:${port(hook)}/', headers: { Authorization: Bearer s3cret }, on: [approval, budget] }
  - { to: command, command: [${folder}/note.sh, ${folder}/told], on: [approval] }
`
  })
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const call = () =>
    gateway.control.call(
      {
        target: { server: 'notes', name: 'write_note' },
        arguments: '{"name":"a","text":"private words"}',
        door: 'cli',
      },
      AbortSignal.timeout(20_000),
    )
  const began = performance.now()
  const asked = await call()
  assert.equal(asked.kind === 'refused' && asked.code, 'APPROVAL_WAITING')
  assert.ok(performance.now() - began < 9_000)
  await until(() => heard.length === 1 && existsSync(join(site.folder, 'told')))
  const notice = JSON.parse(heard[0]!.body) as { kind: string; id: string; text: string }
  assert.equal(notice.kind, 'approval')
  assert.match(notice.text, /notes\/write_note/)
  assert.equal(heard[0]!.authorization, 'Bearer s3cret')
  const told = readFileSync(join(site.folder, 'told'), 'utf8')
  assert.equal((JSON.parse(told) as { id: string }).id, notice.id)
  assert.ok(!`${heard[0]!.body}${told}`.includes('private words'))
  await gateway.control.decideApproval(notice.id, { decision: 'granted', channel: 'cli', why: '' })
  assert.equal((await call()).kind, 'answered')
  await until(() => heard.length === 2)
  assert.equal((JSON.parse(heard[1]!.body) as { kind: string }).kind, 'budget')
  assert.equal(readFileSync(join(site.folder, 'told'), 'utf8'), told)
})

async function until(holds: () => boolean): Promise<void> {
  for (const end = Date.now() + 30_000; !holds(); await pause(50))
    if (Date.now() > end) assert.fail('it did not come to hold within 30 s')
}
