import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { answered, oneTool, waitingApproval } from '../gateway/control/control.fixture.ts'
import type { Control } from '../gateway/control/control.ts'
import type { DecideApproval } from '../api/contract.ts'
import { launcher, workshopWith } from './cli.fixture.ts'

// util-linux's script(1) gives a program a terminal; Debian always has it.
const skip = spawnSync('script', ['--version']).status !== 0

/** A gateway with one question about whatever is called, which answers the call when the question is answered. */
function asking(): Partial<Control> & { readonly decisions: DecideApproval[] } {
  const called = Promise.withResolvers<string>()
  const decided = Promise.withResolvers<void>()
  const decisions: DecideApproval[] = []
  return {
    decisions,
    call: async (request) => {
      called.resolve(request.callId!)
      await decided.promise
      return answered('{"content":[{"type":"text","text":"ran"}]}')
    },
    decideApproval: (_id, decision) => {
      decisions.push(decision)
      decided.resolve()
      return Promise.resolve({ ...waitingApproval, state: decision.decision === 'granted' ? 'granted' : 'denied' })
    },
    watchApprovals: async function* (channel, signal) {
      assert.equal(channel, 'terminal')
      yield { ...waitingApproval, callId: await called.promise }
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    },
  }
}

function onTerminal(folder: string, args: readonly string[]) {
  const command = [process.execPath, launcher, ...args].join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], { cwd: folder, env: { ...process.env, TERM: 'xterm' } })
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', (part: string) => (screen += part))
  return {
    child,
    type: (keys: string) => void child.stdin.write(keys),
    screen: () => screen,
    shows: async (text: string) => {
      const deadline = AbortSignal.timeout(20_000)
      while (!screen.includes(text)) await once(child.stdout, 'data', { signal: deadline })
    },
  }
}

test('a question about one’s own call is put at the terminal, and the whole word answers it', { skip }, async () => {
  const gateway = asking()
  await using shop = await workshopWith(gateway)
  const terminal = onTerminal(shop.folder, [
    '--home',
    shop.home.folder,
    'call',
    'filesystem/write_file',
    '--args',
    '{}',
  ])
  const ended = once(terminal.child, 'close')
  await terminal.shows('Type yes')
  assert.match(terminal.screen(), /apr_1 waits for an answer/)
  terminal.type('yes\r')
  assert.equal((await ended)[0], 0)
  assert.match(terminal.screen(), /ran/)
  assert.deepEqual(gateway.decisions, [{ decision: 'granted', channel: 'terminal', why: '' }])
})

test('what was typed before the question, and a single key, are no answer', { skip }, async () => {
  const gateway = asking()
  await using shop = await workshopWith(gateway)
  const terminal = onTerminal(shop.folder, [
    '--home',
    shop.home.folder,
    'call',
    'filesystem/write_file',
    '--args',
    '{}',
  ])
  const ended = once(terminal.child, 'close')
  terminal.type('yes\r')
  await terminal.shows('Type yes')
  assert.deepEqual(gateway.decisions, [])
  terminal.type('y\r')
  await terminal.shows('Left waiting')
  assert.deepEqual(gateway.decisions, [])
  terminal.type('\u0003')
  assert.equal((await ended)[0], 130)
  assert.deepEqual(gateway.decisions, [])
})

test(
  'everything of a server that waits is shown together, and one yes approves each as it was shown',
  { skip },
  async () => {
    const waiting = ['a', 'b', 'c'].map((name) => ({ ...oneTool, key: `odd/${name}`, name, state: 'pending' as const }))
    const approved: string[] = []
    await using shop = await workshopWith({
      tools: () => Promise.resolve([...waiting, { ...oneTool, name: 'taken', state: 'quarantined' }]),
      tool: ({ name }) => Promise.resolve(waiting.find((it) => it.name === name)!),
      approveTool: ({ name }, { pin }) => {
        approved.push(`${name} ${pin === oneTool.livePin}`)
        return Promise.resolve({ ...oneTool, key: `odd/${name}`, name })
      },
    })
    const terminal = onTerminal(shop.folder, ['--home', shop.home.folder, 'tool', 'approve', '--server', 'odd'])
    const ended = once(terminal.child, 'close')
    await terminal.shows('Type yes to approve all 3 of odd')
    assert.deepEqual(approved, [])
    terminal.type('yes\r')
    assert.equal((await ended)[0], 0)
    assert.deepEqual(approved, ['a true', 'b true', 'c true'])
  },
)
