import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { globSync, readFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test, type TestContext } from 'node:test'
import { refusals } from '../../src/words/refusals.ts'
import { followingBrowser } from '../fixtures/oauth/browser.ts'
import { startProvider } from '../fixtures/oauth/provider.ts'
import { next } from '../fixtures/servers/reach.ts'
import { approveOffered, fixture, makeSite, openGateway } from '../fixtures/site.ts'

const launcher = join(import.meta.dirname, '../../bin/countersign.mjs')

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/** Two gateways: `far` takes tokens of the provider, and `near` needs one to get there. */
async function pair(t: TestContext, issuer: string, auth: object) {
  const port = await freePort()
  const resource = `http://127.0.0.1:${port}/mcp`
  const farSite = makeSite(t, () =>
    JSON.stringify({
      endpoint: { port, auth: { resource, issuers: [{ issuer, tenant: 'team' }], required: ['notes'] } },
      servers: { inner: { command: 'node', args: [fixture('honest')], naming: 'bare' } },
      consent: { rules: [{ name: 'all', decision: 'allow' }] },
    }),
  )
  const far = await openGateway(t, farSite, { port })
  await approveOffered(far)
  const nearSite = makeSite(t, () =>
    JSON.stringify({
      servers: { far: { url: resource, naming: 'bare', auth } },
      consent: { rules: [{ name: 'all', decision: 'allow' }] },
    }),
  )
  const near = await openGateway(t, nearSite)
  return { far, near, nearSite, resource }
}

test('a person logs in by the command, and the call that follows is that person’s at the other end', async (t) => {
  await using provider = await startProvider()
  const { far, near, nearSite } = await pair(t, provider.issuer, { registration: 'dynamic' })
  const upstream = near.core.upstreams.get('far')!
  assert.equal(upstream.state.kind, 'down')
  assert.match((await near.control.server('far'))!.auth!.problem!, /a person has to log in/)

  const ready = next(upstream, 'ready')
  const { code, out } = await loginBy(nearSite, [])
  assert.equal(code, 0)
  assert.match(out, /Logged in: far/)
  await ready
  const shown = (await near.control.server('far'))!.auth!
  assert.equal(shown.issuer, provider.issuer)
  assert.ok(shown.scopes!.includes('notes'))

  await near.core.catalogue.settled
  await approveWhenListed(near)
  const answer = await near.control.call(
    { target: { server: 'far', name: 'echo' }, arguments: '{"text":"hello"}', door: 'cli' } as never,
    AbortSignal.timeout(20_000),
  )
  assert.equal(answer.kind, 'answered', JSON.stringify(answer))
  const records = await far.control.evidence({ limit: 1000 } as never)
  const who = `${new URL(provider.issuer).host}/ann`
  assert.ok(JSON.stringify(records).includes(who))

  // Nothing of the token is in clear text in the home.
  const token = near.core.auths.get('far')!.current()!.replace('Bearer ', '')
  for (const file of globSync('**/*', { cwd: nearSite.home, withFileTypes: true }).filter((it) => it.isFile()))
    assert.equal(readFileSync(join(file.parentPath, file.name)).includes(token), false, file.name)

  await near.control.logout('far')
  assert.equal((await near.control.server('far'))!.auth!.issuer, undefined)
})

test('without a browser the URL is pasted, and a forged one is refused', async (t) => {
  await using provider = await startProvider()
  const { near, nearSite } = await pair(t, provider.issuer, { registration: 'dynamic' })
  const forged = await loginBy(nearSite, ['--headless'], (back) => back.replace(/state=[^&]+/, 'state=forged'))
  assert.equal(forged.code, 3)
  assert.match(forged.out, /LOGIN_REFUSED.*\n.*\(state\)/)
  assert.ok(forged.out.includes(refusals.LOGIN_REFUSED.next))
  const ready = next(near.core.upstreams.get('far')!, 'ready')
  assert.equal((await loginBy(nearSite, ['--headless'])).code, 0)
  await ready
})

async function approveWhenListed(near: Awaited<ReturnType<typeof openGateway>>): Promise<void> {
  const until = Date.now() + 20_000
  while ((await near.control.tools({})).every(({ livePin }) => livePin === undefined)) {
    assert.ok(Date.now() < until, 'nothing was listed')
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  await approveOffered(near)
}

/** Runs `server login far`, and does in the browser what a person does. */
async function loginBy(
  site: { readonly home: string; readonly config: string },
  flags: readonly string[],
  change = (back: string): string => back,
) {
  const args = [launcher, '--home', site.home, '--config', site.config, 'server', 'login', 'far', ...flags]
  const child = spawn(process.execPath, args, { stdio: 'pipe' })
  let out = ''
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  const exited = once(child, 'close') as Promise<[number]>
  const lines = createInterface({ input: child.stderr })
  let visited = false
  for await (const line of lines) {
    out += `${line}\n`
    const url = URL.parse(line.trim())
    if (url === null || visited || !url.searchParams.has('redirect_uri')) continue
    visited = true
    const browser = followingBrowser(url.searchParams.get('redirect_uri')!)
    const back = change((await browser.visit(url, AbortSignal.timeout(20_000))).href)
    if (flags.includes('--headless')) child.stdin.end(`${back}\n`)
    else await (await fetch(back)).text()
  }
  const [code] = await exited
  return { code, out }
}
