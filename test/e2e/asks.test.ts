import assert from 'node:assert/strict'
import { readFileSync, realpathSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as HttpV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import * as schemas from '@modelcontextprotocol/sdk/types.js'
import type { RunningGateway } from '../../src/gateway/build.ts'
import type { JsonObject } from '../../src/words/json.ts'
import { effects, everything, openAsking, type Opened } from '../fixtures/asking-site.ts'
import type { Site } from '../fixtures/site.ts'

// The square: each era of client before each era of server, by pipe and by HTTP, with the official clients.

/** What a client was asked, and what it says to each method. */
class Person {
  readonly asked: { readonly method: string; readonly params: JsonObject }[] = []
  readonly completed: string[] = []
  answers: Record<string, (params: JsonObject) => object> = {}

  answer(method: string, params: JsonObject): object {
    this.asked.push({ method, params })
    return this.answers[method]!(params)
  }
}

function person(site: Site): Person {
  const one = new Person()
  one.answers = {
    'elicitation/create': ({ mode }) =>
      mode === 'url' ? { action: 'accept' } : { action: 'accept', content: { kilograms: 1.5, fragile: true } },
    'sampling/createMessage': () => ({ role: 'assistant', content: { type: 'text', text: 'the rent' }, model: 'm' }),
    'roots/list': () => ({
      roots: [
        { uri: pathToFileURL(site.folder).href, name: 'all of it' },
        { uri: pathToFileURL(join(site.folder, 'here', 'inner')).href, name: 'inner' },
        { uri: 'file:///etc', name: 'elsewhere' },
      ],
    }),
  }
  return one
}

const able = { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} }
type Mode = 'v1' | 'legacy' | 'auto' | 'modern'
const methods = ['elicitation/create', 'sampling/createMessage', 'roots/list'] as const

async function connect(
  t: TestContext,
  { gateway, site }: Opened,
  mode: Mode,
  one: Person,
  capabilities: object = able,
) {
  const token = readFileSync(join(site.home, 'token'), 'utf8').trim()
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  const url = new URL(gateway.url)
  if (mode === 'v1') {
    const client = new ClientV1({ name: 'v1', version: '1' }, { capabilities })
    if ('elicitation' in capabilities) {
      client.setRequestHandler(schemas.ElicitRequestSchema, (it) => one.answer(it.method, it.params as never) as never)
      client.setNotificationHandler(schemas.ElicitationCompleteNotificationSchema, ({ params }) => {
        one.completed.push(params.elicitationId)
      })
    }
    if ('sampling' in capabilities)
      client.setRequestHandler(
        schemas.CreateMessageRequestSchema,
        (it) => one.answer(it.method, it.params as never) as never,
      )
    if ('roots' in capabilities)
      client.setRequestHandler(schemas.ListRootsRequestSchema, (it) => one.answer(it.method, {}) as never)
    await client.connect(new HttpV1(url, { requestInit }) as never)
    t.after(() => client.close())
    return client as unknown as Client
  }
  const versionNegotiation = { mode: mode === 'modern' ? ({ pin: '2026-07-28' } as const) : mode }
  const client = new Client({ name: mode, version: '1' }, { capabilities, versionNegotiation })
  for (const method of methods) {
    if (Object.hasOwn(capabilities, method.split('/')[0]!))
      client.setRequestHandler(method, ((it: { params?: JsonObject }) => one.answer(method, it.params ?? {})) as never)
  }
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }))
  t.after(() => client.close())
  return client
}

async function call(client: Client, name: string, n: string): Promise<{ text: string; isError: boolean }> {
  const result = await client.callTool({ name: `desk__${name}`, arguments: { n } })
  const [first] = result.content as { text: string }[]
  return { text: first?.text ?? '', isError: result.isError === true }
}

async function asksOnRecord(gateway: RunningGateway): Promise<JsonObject[]> {
  const records = await gateway.control.evidence({ limit: 200 })
  return (records as unknown as JsonObject[])
    .filter(({ kind }) => kind === 'op.asked')
    .map(({ facts }) => facts as JsonObject)
}

for (const era of ['legacy', 'modern'] as const) {
  for (const by of ['stdio', 'http'] as const) {
    for (const mode of ['v1', 'legacy', 'auto', 'modern'] as const) {
      test(`${mode} client, ${era} server by ${by}: what it asks comes to the client and back, and it runs once`, async (t) => {
        const opened = await openAsking(t, era, by)
        const one = person(opened.site)
        const client = await connect(t, opened, mode, one)

        const weighed = await call(client, 'weigh', 'a')
        assert.deepEqual(JSON.parse(weighed.text), { action: 'accept', content: { kilograms: 1.5, fragile: true } })
        assert.equal(one.asked.at(-1)?.params['message'], 'desk: How heavy is it?')

        const thought = await call(client, 'think', 'a')
        assert.equal((JSON.parse(thought.text) as { content: { text: string } }).content.text, 'the rent')

        const where = JSON.parse((await call(client, 'where', 'a')).text) as { roots: { uri: string }[] }
        const here = realpathSync(join(opened.site.folder, 'here'))
        assert.deepEqual(
          where.roots.map(({ uri }) => uri),
          [pathToFileURL(here).href, pathToFileURL(join(here, 'inner')).href],
        )

        await call(client, 'visit', 'a')
        const shown = one.asked.at(-1)!.params
        assert.equal(shown['url'], 'https://forms.example.org/sign?id=7')
        assert.match(shown['message'] as string, /^desk: Sign the form\.\n\nIt asks you to open: forms\.example\.org$/)
        // Only the two older ends know that something may be said afterwards; the name is ours, and not the server's.
        if (mode === 'v1' && era === 'legacy') assert.deepEqual(one.completed, [shown['elicitationId']])
        assert.notEqual(shown['elicitationId'], 'e1')

        const before = one.asked.length
        const login = await call(client, 'login', 'a')
        assert.deepEqual(JSON.parse(login.text), { action: 'decline' })
        assert.equal(one.asked.length, before, 'nobody is shown a form that asks for a password')

        assert.deepEqual(effects(opened.site), ['weigh', 'think', 'where', 'visit', 'login'])
        const recorded = await asksOnRecord(opened.gateway)
        assert.deepEqual(
          recorded.map(({ ask, decision, answer, host = '' }) => [ask, decision, answer, host]).toSorted(),
          [
            ['elicitation', 'asked', 'accept', ''],
            ['elicitation', 'asked', 'accept', 'forms.example.org'],
            ['elicitation', 'refused', 'decline', ''],
            ['roots', 'asked', 'roots', ''],
            ['sampling', 'asked', 'message', ''],
          ],
        )
      })
    }
  }
}

/** A server of the older era fails as it likes; of the newer one we know why, and say what could be granted. */
async function fails(client: Client, name: string, era: 'legacy' | 'modern'): Promise<void> {
  if (era === 'legacy') return assert.rejects(call(client, name, 'a'))
  const { text, isError } = await call(client, name, 'a')
  assert.equal(isError, true)
  assert.match(text, /^ASK_NOT_GRANTED/)
}

for (const mode of ['legacy', 'modern'] as const) {
  for (const era of ['legacy', 'modern'] as const) {
    const title = `${mode} client, ${era} server`

    test(`${title}: nothing is granted by default, and nobody is asked`, async (t) => {
      const opened = await openAsking(t, era, 'http', {})
      const one = person(opened.site)
      const client = await connect(t, opened, mode, one)
      for (const name of ['weigh', 'think', 'where']) await fails(client, name, era)
      assert.deepEqual([one.asked.length, effects(opened.site)], [0, []])
      const recorded = await asksOnRecord(opened.gateway)
      for (const { why } of recorded) assert.equal(why, 'not granted to this server')
    })

    test(`${title}: what is granted and no policy permits is refused, and why is on record`, async (t) => {
      const policy = 'permit (principal, action in [Action::"see", Action::"call"], resource);'
      const opened = await openAsking(t, era, 'http', everything, { policy })
      const one = person(opened.site)
      await fails(await connect(t, opened, mode, one), 'weigh', era)
      assert.deepEqual([one.asked.length, effects(opened.site)], [0, []])
      // A server of the newer era is told with the call what it may ask, and so does not try.
      const recorded = await asksOnRecord(opened.gateway)
      assert.deepEqual(
        recorded.map(({ decision, why }) => [decision, why]),
        era === 'legacy' ? [['refused', 'no policy permits it']] : [],
      )
    })
  }
}

test('a server of 2025-11-25 gets the exact error that a client without the capability gives', async (t) => {
  const opened = await openAsking(t, 'legacy', 'http')
  const one = person(opened.site)
  const forms = await connect(t, opened, 'legacy', one, { elicitation: {}, sampling: {} })
  await assert.rejects(call(forms, 'where', 'a'), { code: -32601 })
  await assert.rejects(call(forms, 'visit', 'a'), { code: -32602 })
  await assert.rejects(call(forms, 'think_with_tools', 'a'), { code: -32602 })
  await assert.rejects(call(forms, 'nested', 'a'), { code: -32602 })
  const modern = await connect(t, opened, 'modern', one, { elicitation: {} })
  await assert.rejects(call(modern, 'where', 'b'), (fault: { code: number; data?: object }) => {
    assert.deepEqual([fault.code, fault.data], [-32021, { requiredCapabilities: { roots: {} } }])
    return true
  })
  assert.equal(one.asked.length, 0)
})
