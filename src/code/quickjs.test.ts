import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CallEnd, type CodeLimits, defaultCodeLimits, type RunEnd } from './executor.ts'
import { QuickJsExecutor } from './quickjs.ts'

const executor = new QuickJsExecutor()
const api = { s: ['echo', 'fail'] }

function run(body: string, own: Partial<CodeLimits> = {}, signal = AbortSignal.timeout(60_000)): Promise<RunEnd> {
  const call = (_: string, name: string, text: string): Promise<CallEnd> =>
    Promise.resolve(name === 'echo' ? { ok: true, text } : { ok: false, name: 'ToolError', message: 'no' })
  return executor.run(
    { source: `async function main() { ${body}\n}`, api, at: 1_700_000_000_000, seed: 7, call },
    { ...defaultCodeLimits, ...own },
    signal,
  )
}
const value = async (body: string, own: Partial<CodeLimits> = {}) => {
  const end = await run(body, own)
  assert.equal(end.kind, 'returned', JSON.stringify(end))
  return end.kind === 'returned' ? (JSON.parse(end.value) as unknown) : undefined
}
/** Ended by that limit, and soon after it. */
async function stopped(limit: string, body: string, own: Partial<CodeLimits>, withinMs = 15_000): Promise<void> {
  const began = performance.now()
  const end = await run(body, own)
  assert.deepEqual([end.kind, 'limit' in end ? end.limit : JSON.stringify(end)], ['stopped', limit])
  assert.ok(performance.now() - began < withinMs, `${performance.now() - began} ms`)
}

test('a program calls functions, one after the other and together, and returns a value', async () => {
  assert.deepEqual(
    await value(
      'const a = await servers.s.echo({ n: 1 }); return [a, await Promise.all([2, 3].map((n) => servers.s.echo({ n })))]',
    ),
    [{ n: 1 }, [{ n: 2 }, { n: 3 }]],
  )
  assert.equal(await value(''), null)
  assert.deepEqual(await value('try { await servers.s.fail() } catch (error) { return [error.name, error.message] }'), [
    'ToolError',
    'no',
  ])
})

test('what it prints is there, and an error names the line that threw', async () => {
  const end = await run('console.log("a", { b: 1 })\n\nthrow new TypeError("wrong")')
  assert.equal(end.printed, 'a {"b":1}\n')
  assert.ok(
    end.kind === 'threw' && end.name === 'TypeError' && end.message === 'wrong' && end.line === 3,
    JSON.stringify(end),
  )
})

test('a program that is none says so', async () => {
  const end = await run('return (')
  assert.ok(end.kind === 'threw' && end.name === 'SyntaxError', JSON.stringify(end))
})

test('each limit ends a program that passes it', async () => {
  await stopped('cpu', 'for (;;);', { cpuMs: 200 })
  await stopped('cpu', 'for (;;) await servers.s.echo({})', { cpuMs: 200, calls: 1e9 })
  await stopped('cpu', 'const f = () => Promise.resolve().then(f); await f()', { cpuMs: 200 })
  await stopped('cpu', '/(a+)+$/.test("a".repeat(40) + "b")', { cpuMs: 300 })
  await stopped('memory', 'const a = []; for (;;) a.push(new Array(10_000).fill(0))', {
    memoryBytes: 8 << 20,
    cpuMs: 30_000,
  })
  await stopped('memory', '"x".repeat(1 << 28).split("")', { memoryBytes: 8 << 20, cpuMs: 30_000 })
  await stopped('output', 'for (;;) console.log("x".repeat(1000))', { outputBytes: 10_000 })
  await stopped('output', 'for (;;) console.log("")', { outputBytes: 10_000, cpuMs: 30_000 })
  await stopped('output', 'return "x".repeat(20_000)', { outputBytes: 10_000 })
  await stopped('calls', 'for (;;) await servers.s.echo({})', { calls: 50, cpuMs: 30_000 })
  await stopped('wall', 'await new Promise(() => {})', { wallMs: 300 })
})

test('ten thousand calls within the limit are made', async () => {
  assert.equal(
    await value('let n = 0; for (let i = 0; i < 10_000; i++) n += (await servers.s.echo({ i })).i; return n', {
      calls: 10_000,
      cpuMs: 60_000,
    }),
    49_995_000,
  )
})

test('who cancels is not kept waiting', async () => {
  const cancel = new AbortController()
  const ended = run('await new Promise(() => {})', {}, cancel.signal)
  cancel.abort()
  assert.equal((await ended).kind, 'cancelled')
})

test('there is nothing of the machine within reach, and nothing of ours that a program could change', async () => {
  const names = [
    'process',
    'require',
    'fetch',
    'WebAssembly',
    'SharedArrayBuffer',
    'Atomics',
    'setTimeout',
    'Buffer',
    'XMLHttpRequest',
    'Worker',
    'std',
    'os',
    'scriptArgs',
    'navigator',
    'performance',
  ]
  assert.deepEqual(
    await value(
      `return ${JSON.stringify(names)}.filter((name) => typeof globalThis[name] !== 'undefined' && name !== 'SharedArrayBuffer' && name !== 'Atomics')`,
    ),
    [],
  )
  assert.equal(await value('try { await import("node:fs"); return "imported" } catch { return "refused" }'), 'refused')
  // What can be reached by constructors is the inside of the sandbox, and no more.
  assert.equal(await value('return [].constructor.constructor("return typeof process")()'), 'undefined')
  assert.equal(
    await value(`
      Object.prototype.ok = true; Array.prototype.map = () => 'stolen'; JSON.parse = () => 'stolen'; Promise.prototype.then2 = 1
      try { servers.s.echo = () => 'stolen' } catch {}
      try { globalThis.servers = {} } catch {}
      try { servers.other = {} } catch {}
      return (await servers.s.echo({ n: 1 })).n`),
    1,
  )
  assert.deepEqual(
    await value('return [typeof servers.constructor, typeof servers.s.constructor, typeof servers.__proto__]'),
    ['undefined', 'undefined', 'undefined'],
  )
})

test('programs know nothing of each other', async () => {
  await run('globalThis.left = 1; Object.prototype.left = 1')
  assert.equal(await value('return typeof globalThis.left + typeof {}.left'), 'undefinedundefined')
})

test('one program too many is told so, and takes nothing from the others', async () => {
  const two = new QuickJsExecutor(2)
  const cancel = new AbortController()
  const waits = {
    source: 'async function main() { await new Promise(() => {}) }',
    api: {},
    at: 0,
    seed: 0,
    call: () => new Promise<never>(() => {}),
  }
  const running = [1, 2].map(() => two.run(waits, defaultCodeLimits, cancel.signal))
  const third = await two.run(waits, defaultCodeLimits, cancel.signal)
  assert.ok(third.kind === 'broken' && third.why.startsWith('2 programs run already'))
  cancel.abort()
  assert.deepEqual(
    (await Promise.all(running)).map(({ kind }) => kind),
    ['cancelled', 'cancelled'],
  )
})

test('clocks stand still and chance repeats itself, whatever a program does to get at others', async () => {
  const body =
    'return [Date.now(), new Date().getTime(), +new (new Date(5)).constructor(), typeof Date(), new Date(5).getTime(), Math.random()]'
  const [first, second] = [(await value(body)) as number[], (await value(body)) as number[]]
  assert.deepEqual(first, second)
  assert.deepEqual(first.slice(0, 5), [1_700_000_000_000, 1_700_000_000_000, 1_700_000_000_000, 'string', 5])
  assert.ok(first[5]! >= 0 && first[5]! < 1)
})

test('deep nesting is an error of the program, and no end of the engine', async () => {
  for (const body of [
    'const f = () => 1 + f(); f()',
    'let a = []; for (let i = 0; i < 100_000; i++) a = [a]; JSON.stringify(a)',
    'eval("(".repeat(100_000))',
  ]) {
    const end = await run(body)
    assert.ok(end.kind === 'threw' || end.kind === 'stopped', `${body}: ${JSON.stringify(end)}`)
  }
})
