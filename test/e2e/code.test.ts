import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { Server } from '@modelcontextprotocol/server'
import { type Countersign, createCountersign, memoryPair } from 'countersign'

const policy =
  'permit (principal, action, resource) unless { context has door && context.door == "code" && resource.name == "not_by_program" };'
const consent = [
  { name: 'reads', effect: ['read'], decision: 'allow', channels: [], selfApproval: false, expiresMs: 60_000 },
  { name: 'adds', tool: 'shelf/add', decision: 'allow', channels: [], selfApproval: false, expiresMs: 60_000 },
  { name: 'writes', decision: 'ask', channels: ['cli'], selfApproval: true, expiresMs: 600_000 },
] as const

/** A shelf of records: what was written counts, and one name never gets an answer. */
async function open(t: TestContext) {
  const written: string[] = []
  let rows: object[] = Array.from({ length: 200 }, (_, n) => ({ n, text: `row ${n} `.repeat(20) }))
  const tool = (name: string) => ({ name, description: `${name}.`, inputSchema: { type: 'object' as const } })
  const openServer = async () => {
    const server = new Server({ name: 'shelf', version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler(
      'tools/list',
      () => ({ tools: [tool('rows'), tool('write'), tool('not_by_program'), tool('lost'), tool('add')] }) as never,
    )
    server.setRequestHandler('tools/call', ({ params }) => {
      if (params.name === 'rows') {
        return { content: [{ type: 'text', text: JSON.stringify(rows) }], structuredContent: { rows } } as never
      }
      written.push(`${params.name} ${JSON.stringify(params.arguments)}`)
      if (params.name === 'lost') return new Promise<never>(() => {})
      return { content: [{ type: 'text', text: 'written' }] }
    })
    const [ours, theirs] = memoryPair()
    await server.connect(theirs)
    return ours
  }
  const sign = await createCountersign({
    servers: {
      shelf: {
        open: openServer,
        tools: {
          rows: { effect: 'read', risk: 'low' },
          add: { effect: 'once', risk: 'low', repeat: 'allow' },
          lost: { effect: 'once', softDeadlineMs: 300, hardDeadlineMs: 300 },
        },
      },
    },
    policy,
    consent,
  })
  t.after(() => sign.close())
  for (const name of sign.pending()) await sign.approve(name, 'operator')
  return { sign, written, changes: (now: object[]) => void (rows = now) }
}

async function program(sign: Countersign, text: string, resume?: string): Promise<string> {
  const toolbox = sign.toolbox('code')
  const argumentsText = JSON.stringify({ program: text, ...(resume === undefined ? {} : { resume }) })
  const call = { exported: 'countersign__program', argumentsText, callId: 'c', conversation: 'v' }
  const answer = await toolbox.call(call, AbortSignal.timeout(60_000))
  assert.ok(answer.kind === 'result')
  return (answer.value['content'] as unknown as readonly { text: string }[])[0]!.text
}
const runOf = (said: string): string => /run (run_\w+)/.exec(said)![1]!
const approvalOf = (said: string): string => /(apr_\w+)/.exec(said)![1]!

test('two tools stand for all; a program reads much, and what it returns is all that is seen', async (t) => {
  const { sign } = await open(t)
  const toolbox = sign.toolbox('code')
  const offers = await toolbox.offers(AbortSignal.timeout(10_000))
  assert.deepEqual(
    offers.map(({ exported }) => exported),
    ['countersign__files', 'countersign__program'],
  )
  const said = await program(
    sign,
    `const { rows } = await servers.shelf.rows({}) as { rows: { n: number }[] }
     return rows.filter(({ n }: { n: number }) => n % 50 === 0).map(({ n }) => n)`,
  )
  assert.match(said, /^returned: \[0,50,100,150\]\n1 calls; run run_/)
  assert.ok(!said.includes('row 1 '))
})

test('each call of a program is a proposal: policies know that a program makes it', async (t) => {
  const { sign, written } = await open(t)
  const said = await program(sign, 'await servers.shelf.not_by_program({})')
  assert.match(said, /^threw Refused in line 1: POLICY_DENIED/)
  assert.deepEqual(written, [])
})

test('a program that needs a yes ends with its name, and begun again goes on without doing anything twice', async (t) => {
  const { sign, written } = await open(t)
  const text = `await servers.shelf.write({ n: 1 })
await servers.shelf.write({ n: 2 })
return 'both'`
  const first = await program(sign, text)
  assert.match(first, /^threw Waiting in line 1: APPROVAL_WAITING/)
  const run = runOf(first)
  await sign.answer(approvalOf(first), true, 'ada')
  const second = await program(sign, text, run)
  assert.match(second, /^threw Waiting in line 2/)
  assert.deepEqual(written, ['write {"n":1}'])
  await sign.answer(approvalOf(second), true, 'ada')
  assert.match(await program(sign, text, run), /^returned: "both"/)
  assert.match(await program(sign, text, run), /^returned: "both"/)
  assert.deepEqual(written, ['write {"n":1}', 'write {"n":2}'])
})

test('another program under the name of a run does not get the answers of the first', async (t) => {
  const { sign, written } = await open(t)
  const first = await program(sign, 'return await servers.shelf.write({ n: 1 })')
  await sign.answer(approvalOf(first), true, 'ada')
  const run = runOf(first)
  assert.match(await program(sign, 'return await servers.shelf.write({ n: 1 })', run), /^returned: "written"/)
  assert.match(
    await program(sign, 'return await servers.shelf.write({ n: 9 })', run),
    /^run_\w+ was a run of another program$/,
  )
  assert.deepEqual(written, ['write {"n":1}'])
})

test('a call that nobody answers is told, and never sent again by the same run', async (t) => {
  const { sign, written } = await open(t)
  const text = 'await servers.shelf.lost({})'
  const first = await program(sign, text)
  await sign.answer(approvalOf(first), true, 'ada')
  const second = await program(sign, text, runOf(first))
  assert.match(second, /^threw OutcomeUnknown in line 1/)
  assert.match(second, /shelf__lost was sent, and nobody knows what came of it \(op_/)
  assert.match(
    await program(sign, text, runOf(first)),
    /^threw (?:Refused in line 1: (?:OUTCOME_UNKNOWN|IN_PROGRESS)|OutcomeUnknown)/,
  )
  assert.deepEqual(written, ['lost {}'])
})

test('what was read is what is read again: a list that changed meanwhile leads to no effect a second time', async (t) => {
  const { sign, written, changes } = await open(t)
  changes([{ n: 'A' }, { n: 'B' }])
  const text = `const { rows } = await servers.shelf.rows({})
for (const { n } of rows) try { await servers.shelf.add({ n }) } catch {}
await servers.shelf.write({ done: rows.length })
return rows.length`
  const first = await program(sign, text)
  assert.match(first, /^threw Waiting in line 3/)
  changes([{ n: 'new' }, { n: 'A' }, { n: 'B' }])
  await sign.answer(approvalOf(first), true, 'ada')
  assert.match(await program(sign, text, runOf(first)), /^returned: 2/)
  assert.deepEqual(written, ['add {"n":"A"}', 'add {"n":"B"}', 'write {"done":2}'])
})

test('calls that are made together are told apart by what they say, in whatever order they come', async (t) => {
  const { sign, written } = await open(t)
  const text = `await Promise.all([1, 2, 3].map(async (n) => { await servers.shelf.rows({ n }); await servers.shelf.add({ n }) }))
await servers.shelf.add({ n: 1 })
await servers.shelf.write({})
return 'all'`
  const first = await program(sign, text)
  assert.match(first, /^threw Waiting in line 3/)
  await sign.answer(approvalOf(first), true, 'ada')
  assert.match(await program(sign, text, runOf(first)), /^returned: "all"/)
  assert.deepEqual(written.toSorted(), ['add {"n":1}', 'add {"n":1}', 'add {"n":2}', 'add {"n":3}', 'write {}'])
})

test('a run that nobody knows is not begun anew under its name', async (t) => {
  const { sign, written } = await open(t)
  const said = await program(sign, 'await servers.shelf.add({})', 'run_00000000000000000000000000')
  assert.match(said, /is not known any more/)
  assert.deepEqual(written, [])
})
