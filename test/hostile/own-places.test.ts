import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Answer } from '../../src/flow/answer.ts'
import { approveOffered, fixture, makeSite, openGateway } from '../fixtures/site.ts'

const canary = 'canary-4f1c9b7d2e8a'

test('a tool that nobody described is kept from the gateway’s own files and door, under a policy that permits all', async (t) => {
  const site = makeSite(t, () =>
    JSON.stringify({
      servers: {
        inner: {
          command: 'node',
          args: [fixture('honest')],
          naming: 'bare',
          env: { NOTES_TOKEN: 'secret://file/notes.token' },
        },
      },
      consent: { rules: [{ name: 'all', decision: 'allow' }] },
    }),
  )
  writeFileSync(join(site.folder, 'notes.token'), `${canary}\n`, { mode: 0o600 })
  const gateway = await openGateway(t, site)
  await approveOffered(gateway)
  const echo = (text: string): Promise<Answer> =>
    gateway.control.call(
      {
        target: { server: 'inner', name: 'echo' },
        arguments: JSON.stringify({ text }),
        door: 'cli',
      } as never,
      AbortSignal.timeout(20_000),
    )
  for (const text of [
    join(site.home, 'token'),
    '.countersign/token',
    site.config,
    'policy/more.cedar',
    // Not there yet: whoever makes it decides what is approved.
    'countersign.lock.yaml',
    gateway.url,
    `curl ${gateway.url.replace('127.0.0.1', 'localhost')}`,
  ]) {
    const answer = await echo(text)
    assert.equal(answer.kind === 'refused' ? answer.code : answer.kind, 'SCOPE_OUTSIDE', text)
  }
  const answer = await echo('an ordinary text')
  assert.equal(answer.kind, 'answered')

  // The process has the secret that names it; what it says of it goes no further.
  const upstream = gateway.core.upstreams.get('inner')!
  const pid = upstream.state.kind === 'ready' ? upstream.state.negotiated.pid! : 0
  if (process.platform === 'linux') {
    assert.ok(readFileSync(`/proc/${pid}/environ`, 'utf8').includes(`NOTES_TOKEN=${canary}`))
    assert.equal(readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(canary), false)
  }
  const leaked = await echo(`the token is ${canary}, or ${Buffer.from(canary).toString('base64')}`)
  assert.equal(leaked.kind, 'answered')
  const said = leaked.kind === 'answered' ? Buffer.from(leaked.accepted.bytes).toString() : ''
  assert.match(said, /the token is \[secret\], or \[secret\]/)
})
