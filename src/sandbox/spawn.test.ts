import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { Secret } from '../words/secret.ts'
import { processStat } from './processes.ts'
import { Ring } from './ring.ts'
import { startChild, type Program } from './spawn.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-spawn-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const stubborn = join(import.meta.dirname, '../../test/fixtures/servers/stubborn.ts')
const node = (...args: string[]): Program => ({ command: process.execPath, args, cwd: folder, env: {} })

/** True where the process is there and has not ended. */
const lives = (pid: number): boolean => !['Z', undefined].includes(processStat(pid)?.state)

/** Starts the stubborn server and waits until it answers; then the pids of all its processes are known. */
async function startStubborn(...args: string[]): Promise<{ child: ReturnType<typeof startChild>; pids: number[] }> {
  const file = join(folder, `pids-${args.join('')}`)
  const records = join(folder, 'records')
  const child = startChild(node(stubborn, '--pids', file, ...args), { records })
  child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
  await once(child.stdout, 'data')
  child.settled()
  const pids = readFileSync(file, 'utf8').trim().split('\n').map(Number)
  assert.ok(pids.every(lives))
  return { child, pids }
}

for (const args of [[], ['--wrapped'], ['--wrapped', '--leave']]) {
  test(`F51: a server that ignores the end of input and SIGTERM is gone within 5 s ${args.join(' ')}`, async () => {
    const { child, pids } = await startStubborn(...args)
    assert.equal(readdirSync(join(folder, 'records')).length, 1)
    const began = performance.now()
    await child.end()
    assert.ok(performance.now() - began < 5000)
    assert.deepEqual(pids.filter(lives), [])
    assert.deepEqual(readdirSync(join(folder, 'records')), [])
  })
}

test('a child that leaves its own children behind does not leave them for long', async () => {
  const { child, pids } = await startStubborn('--wrapped')
  process.kill(pids[0]!, 'SIGKILL')
  await child.exited
  await child.end()
  assert.deepEqual(pids.filter(lives), [])
})

test('a child that ends with its input is not signalled', async () => {
  const child = startChild(node('-e', 'process.stdin.resume().on("end", () => process.exit(7))'))
  await child.end()
  assert.deepEqual(await child.exited, { kind: 'ended', code: 7, signal: null })
})

test('arguments reach the program as they are: no shell reads them', async () => {
  const odd = ['a b', '$(touch broken)', '; exit 1', '"', '*', 'ü']
  const child = startChild(node('-e', 'process.stdout.write(JSON.stringify(process.argv.slice(1)))', ...odd))
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  assert.deepEqual(JSON.parse(chunk.toString()), odd)
  await child.end()
})

test('a secret is revealed to the child that it is for', async () => {
  const program = { ...node('-e', 'process.stdout.write(process.env.TOKEN)'), env: { TOKEN: new Secret('s3cret') } }
  const child = startChild(program)
  const [chunk] = (await once(child.stdout, 'data')) as [Buffer]
  assert.equal(chunk.toString(), 's3cret')
  await child.end()
})

test('what cannot be started says so without its arguments', async () => {
  const child = startChild({ command: join(folder, 'missing'), args: ['--token=s3cret'], cwd: folder, env: {} })
  assert.deepEqual(await child.exited, { kind: 'not-started', why: 'spawn: ENOENT' })
  await child.end()
  assert.throws(
    () => startChild(node('a\0s3cret')),
    (fault: Error) => !fault.message.includes('s3cret'),
  )
})

test('of what goes to standard error the last bytes are kept, whatever the pieces', () => {
  for (const piece of [1, 7, 100, 5000]) {
    const ring = new Ring(100)
    const text = Array.from({ length: 1000 }, (_, n) => String(n)).join(' ')
    for (let n = 0; n < text.length; n += piece) ring.push(Buffer.from(text.slice(n, n + piece)))
    assert.equal(ring.text(), text.slice(-100))
    assert.equal(ring.total, text.length)
  }
})
