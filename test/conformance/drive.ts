import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { loadConfig } from '../../src/config/load.ts'
import { startGateway } from '../../src/gateway/build.ts'
import { ownHome } from '../../src/gateway/ownership.ts'
import type { JsonObject } from '../../src/words/json.ts'
import { followingBrowser } from '../fixtures/oauth/browser.ts'
import { suiteAuth } from '../fixtures/oauth/suite-auth.ts'
import { connected, permitFor, sending, soon } from '../fixtures/servers/reach.ts'
import { approveOffered, makeSite } from '../fixtures/site.ts'

/** What the suite tells of a scenario to the client that is under test. */
export interface Scenario {
  readonly url: string
  readonly name: string
  /** The revision that it is run at. */
  readonly revision: string
  readonly context: {
    readonly toolCalls?: readonly Call[]
  }
}

interface Call {
  readonly name: string
  readonly arguments: Record<string, unknown>
}

/**
 * Does what a scenario wants to see of a client: a gateway whose one upstream is the server of the scenario, and an official
 * client before it that uses all that it finds.
 */
export async function drive(scenario: Scenario): Promise<void> {
  const { name, url, revision, context } = scenario
  const site = makeSite({ name }, ({ folder }) =>
    JSON.stringify({
      servers: {
        suite: {
          url,
          naming: 'bare',
          resources: 'allow',
          prompts: 'allow',
          revisions: [revision],
          asks: { elicitation: ['form'] },
          ...suiteAuth(name, context, folder),
        },
      },
      consent: { rules: [{ name: 'the suite may be called', decision: 'allow' }] },
    }),
  )
  const home = ownHome(site.home)
  const gateway = await startGateway(loadConfig(site.config), home, {
    port: 0,
    background: true,
    browser: followingBrowser(),
  })
  try {
    await gateway.core.settled
    await approveOffered(gateway)
    const client = await connect(gateway.url, readFileSync(join(site.home, 'token'), 'utf8').trim(), revision)
    // What a call answers is for the suite to see.
    for (const call of await calls(client, scenario)) await client.callTool(call).catch(() => {})
    if (name === 'http-custom-headers') await sendAlone(scenario)
    await readAll(client)
    await client.close()
  } finally {
    await gateway.close()
    home.release()
  }
}

async function connect(gateway: string, token: string, revision: string): Promise<Client> {
  const client = new Client(
    { name: 'behind the gateway', version: '1' },
    {
      capabilities: { elicitation: { form: { applyDefaults: true } } },
      versionNegotiation: { mode: revision === '2026-07-28' ? { pin: revision } : 'legacy' },
    },
  )
  client.setRequestHandler('elicitation/create', ({ params }) => {
    const confirms = JSON.stringify(params).includes('"confirmed"')
    return { action: 'accept', content: confirms ? { confirmed: true } : {} }
  })
  const requestInit = { headers: { authorization: `Bearer ${token}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(gateway), { requestInit }))
  return client
}

/**
 * The calls of a scenario by the upstream side alone. One of them has a null where the schema of its tool wants a boolean:
 * the tool gate refuses it, and the headers are what is looked at here.
 */
async function sendAlone({ url, revision, context }: Scenario): Promise<void> {
  const reach = { kind: 'http', url, headers: {} } as const
  await using upstream = await connected(reach, { revisions: [revision as '2026-07-28'] })
  const tools = await upstream.list('tools/list', soon())
  for (const { name, arguments: given } of context.toolCalls ?? []) {
    const definition = tools.find((tool) => tool['name'] === name)
    if (definition !== undefined) await upstream.send(permitFor(name, given as JsonObject, { definition }), sending())
  }
}

/** What is called: what the scenario names, or every tool of the server with what its arguments could be. */
async function calls(client: Client, { context }: Scenario): Promise<readonly Call[]> {
  const { tools } = await client.listTools()
  if (context.toolCalls !== undefined) return context.toolCalls
  const focal = tools.find(({ name }) => name === 'json_schema_2020_12_tool')
  return tools
    .filter(({ name }) => name !== 'countersign__operation_status' && name !== focal?.name)
    .map(({ name, inputSchema: { properties = {} } }) => ({
      name,
      arguments:
        name === 'json_schema_echo'
          ? { schema: focal?.inputSchema }
          : Object.fromEntries(Object.entries(properties).map(([key, schema]) => [key, valueFor(schema)])),
    }))
}

function valueFor(schema: unknown): unknown {
  const { type } = (typeof schema === 'object' && schema !== null ? schema : {}) as { type?: unknown }
  return type === 'number' || type === 'integer' ? 5 : type === 'boolean' ? true : 'a text'
}

async function readAll(client: Client): Promise<void> {
  for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri }).catch(() => {})
  for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name }).catch(() => {})
}
