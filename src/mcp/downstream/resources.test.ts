import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../words/json.ts'
import { ask, errorOf, initialized, modern, rpc, served } from './asking.test.ts'
import { STATUS_TOOL, withOwnTools } from './operation-status.ts'
import { definition } from './stand-in.test.ts'

test('a result that was put aside is read in parts, by its owner only', async (t) => {
  const { url, ports } = await served(t)
  const whole = 'countersign://results/spl_1'
  ports.pages.set(whole, { text: 'abcdefghij', mimeType: 'text/plain', offset: 0, total: 10 })
  const read = async (uri: string, headers = {}) =>
    (await ask(url, modern('resources/read', { uri }, { headers }))).json['result'] as JsonObject
  const all = await read(whole)
  assert.deepEqual(all['contents'], [{ uri: whole, mimeType: 'text/plain', text: 'abcdefghij' }])
  assert.equal(all['cacheScope'], 'private')
  let text = ''
  for (let uri: string | undefined = `${whole}?offset=0&limit=4`; uri !== undefined;) {
    const part: JsonObject = await read(uri)
    text += (part['contents'] as [{ text: string }])[0].text
    uri = ((part['_meta'] as JsonObject)['io.countersign/page'] as { next?: string }).next
  }
  assert.equal(text, 'abcdefghij')
  assert.deepEqual(ports.calls, [], 'nobody else is asked')

  for (const token of ['bob', 'alice-other']) {
    const got = await ask(
      url,
      modern('resources/read', { uri: whole }, { headers: { authorization: `Bearer ${token}` } }),
    )
    assert.equal(errorOf(got).code, -32602)
  }
  const legacy = await initialized(url, 'bob')
  assert.equal(errorOf(await ask(url, { body: rpc('resources/read', { uri: whole }), headers: legacy })).code, -32002)
  for (const query of ['offset=-1', 'offset=x', 'limit=0', 'limit=1e9', 'offset=1.5']) {
    assert.equal(errorOf(await ask(url, modern('resources/read', { uri: `${whole}?${query}` }))).code, -32602, query)
  }
})

test('the state of an operation can be asked for where the gateway offers it', async (t) => {
  const { url, ports } = await served(t)
  const call = modern('tools/call', { name: STATUS_TOOL, arguments: { operation: 'op_1' } })
  assert.equal(errorOf(await ask(url, call)).code, -32602, 'it is an unknown tool where it is not offered')
  Object.assign(ports, {
    operations: {
      status: (owner: { principal: string }, operation: string) =>
        owner.principal === 'alice' && operation === 'op_1' ? { operation, state: 'unknown' } : undefined,
    },
  })
  const list = (await ask(url, modern('tools/list'))).json['result'] as { tools: { name: string }[] }
  assert.deepEqual(
    list.tools.map((tool) => tool.name),
    ['echo__say', STATUS_TOOL],
  )
  const got = (await ask(url, call)).json['result'] as JsonObject
  assert.deepEqual(got['structuredContent'], { operation: 'op_1', state: 'unknown' })
  const bob = await ask(url, { ...call, headers: { ...call.headers, authorization: 'Bearer bob' } })
  assert.equal((bob.json['result'] as JsonObject)['isError'], true)
  assert.equal(ports.calls.length, 1)
})

test('our tool stands at the end of any list, and the longer list is made once', () => {
  for (const tools of ['[]', '[ ]', '[{"name":"a]"}]', JSON.stringify([definition('a'), definition('b')])]) {
    const list = Buffer.from(tools)
    const longer = withOwnTools(list, {})
    const names = (JSON.parse(longer.toString()) as { name: string }[]).map((tool) => tool.name)
    assert.equal(names.at(-1), STATUS_TOOL)
    assert.equal(names.length, (JSON.parse(tools) as unknown[]).length + 1)
    assert.equal(withOwnTools(list, {}), longer)
  }
})
