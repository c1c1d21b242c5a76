import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import { startGateway } from '../../src/gateway/build.ts'
import { ownHome } from '../../src/gateway/ownership.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, start, tokenOf, until, wordFor } from './attack.ts'
import { door, modern } from './client.ts'

/** Processes whose command line or environment holds that mark. */
function withMark(mark: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && name !== String(process.pid))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(mark) ||
          readFileSync(`/proc/${pid}/environ`, 'utf8').includes(mark)
        )
      } catch {
        return false
      }
    })
}

/** A server that takes connections and says nothing, ever. */
async function mute(t: TestContext): Promise<number> {
  const sockets = new Set<{ destroy(): void }>()
  const server = createServer((socket) => void sockets.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const company =
  (mark: string, port: number) =>
  ({ effects }: Site): string =>
    `
servers:
  dead: { command: /nowhere/at/all, args: [${mark}] }
  exits: { command: node, args: ['-e', 'process.exit(3)', ${mark}] }
  refused: { url: 'http://127.0.0.1:1/mcp' }
  mute: { url: 'http://127.0.0.1:${port}/mcp', connectTimeout: 30s }
  silent: { command: node, args: ['-e', 'setInterval(() => {}, 1000)', ${mark}] }
  noisy: { command: node, args: ['-e', "setInterval(() => process.stdout.write('x'.repeat(65536)), 1)", ${mark}] }
  babel: { command: node, args: ['-e', "process.stdin.on('data', () => process.stdout.write('{\\\\\\"jsonrpc\\\\\\":\\\\n'))", ${mark}] }
  huge: { command: node, args: [${fixture('huge')}, --tools, '1000', ${mark}], tools: { line: { effect: read, risk: low } } }
  endless: { command: node, args: [${fixture('huge')}, --cursor, endless, ${mark}] }
  same: { command: node, args: [${fixture('huge')}, --cursor, same, ${mark}] }
  stubborn: { command: node, args: [${fixture('stubborn')}, ${mark}], env: { MARK: ${mark} } }
  wrapped: { command: node, args: [${fixture('stubborn')}, --wrapped, --leave, ${mark}], env: { MARK: ${mark} } }
  honest:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}, ${mark}]
    tools: { echo: { effect: read, risk: low }, write_note: { effect: once, risk: low } }
consent: { rules: [{ name: all passes, decision: allow }] }
`

test('beside the dead, the mute, the endless and the stubborn an honest server lists and works, and at the end no process is left', async (t) => {
  const mark = `mark-${process.pid}-${Date.now()}`
  const site = makeSite(t, company(mark, await mute(t)))
  t.after(() => {
    for (const pid of withMark(mark)) process.kill(pid, 'SIGKILL')
  })
  const began = performance.now()
  const home = ownHome(site.home)
  t.after(() => home.release())
  const gateway = await startGateway(loadConfig(site.config), home, { port: 0, background: true })
  t.after(() => gateway.close())
  assert.ok(performance.now() - began < 12_000, 'the door stays shut for one that does not answer')
  await until('the honest one is listed', async () =>
    (await gateway.control.tools({})).some(({ server }) => server === 'honest'),
  )
  for (const { server, name, livePin } of await gateway.control.tools({}))
    if (server === 'honest') await gateway.control.approveTool({ server, name, kind: 'tool' }, { pin: livePin! })
  const before = performance.now()
  const listed = await door(gateway, tokenOf(site), modern('tools/list'))
  assert.match(listed.text, /honest__echo/)
  assert.ok(performance.now() - before < 3000, 'a list waits for nobody')
  assert.equal(wordFor(await call(gateway, 'honest/write_note', { name: 'n', text: 't' })), 'answered:succeeded')
  assert.deepEqual(effectsIn(site.effects), ['n'])
  const word = wordFor(await call(gateway, 'dead/anything', {}))
  assert.ok(['TOOL_UNKNOWN', 'SERVER_UNAVAILABLE', 'TOOL_NOT_APPROVED'].includes(word), word)
  await until(
    'the huge one is listed',
    async () => (await gateway.control.tools({})).filter(({ server }) => server === 'huge').length === 1000,
  )
  // Between two tries it is connecting, and says nothing.
  for (const name of ['dead', 'exits', 'refused'])
    await until(`${name} says why`, async () => (await gateway.control.server(name))?.why !== undefined)
  const closing = performance.now()
  await gateway.close()
  assert.ok(performance.now() - closing < 10_000, 'the end takes too long')
  await until('every process is gone', () => withMark(mark).length === 0, 5000)
})

test('what a killed gateway left running is gone when the next one starts', async (t) => {
  const mark = `mark-${process.pid}-${Date.now()}-orphans`
  t.after(() => {
    for (const pid of withMark(mark)) process.kill(pid, 'SIGKILL')
  })
  const site = makeSite(
    t,
    () => `
servers:
  stubborn: { command: node, args: [${fixture('stubborn')}, ${mark}] }
`,
  )
  const script = join(import.meta.dirname, '..', 'crash', 'gateway.ts')
  const child = spawn(process.execPath, [script, site.config, site.home], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(child.stdout, 'data')
  await until('the server runs', () => withMark(mark).length >= 1)
  const first = withMark(mark)
  child.kill('SIGKILL')
  await once(child, 'exit')
  const running = await start(t, site)
  assert.ok(
    first.every((pid) => !withMark(mark).includes(pid)),
    'an orphan lives',
  )
  await running.stop()
  await until('nothing is left', () => withMark(mark).length === 0, 5000)
})
