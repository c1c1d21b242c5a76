import { z } from 'zod'
import { legacyRevisions, modernRevisions } from '../mcp/wire/revisions.ts'
import { isSecretReference, secretProblem } from '../identity/secrets/reference.ts'
import { authSchema } from './auth.ts'
import { count, duration, name, text } from './fields.ts'
import { profileSchema } from './profile.ts'

export const revisionsSchema = z
  .array(z.enum([...legacyRevisions, ...modernRevisions]))
  .default([])
  .describe('Which MCP revisions may be spoken here; empty means all.')

const allowOrDeny = z.enum(['allow', 'deny']).default('deny')

const asksSchema = z
  .strictObject({
    elicitation: z
      .array(z.enum(['form', 'url']))
      .default([])
      .describe('What it may ask the person at the client: a form, or to open a URL.'),
    sampling: z
      .enum(['client', 'host', 'refuse'])
      .default('refuse')
      .describe('Who answers when it asks for a model: the client, the model under `sampling`, or nobody.'),
    roots: z
      .array(name('A name under `roots`.'))
      .max(64)
      .default([])
      .describe('Of the client’s roots it is told what lies in these folders. This keeps it from nothing.'),
  })
  .prefault({})
  .describe('What this server may ask for while a call is under way. Nothing, where nothing is said.')

// The exported names are split at the first `__`, and model providers take no `.` in a tool's name.
export const serverName = z
  .string()
  .regex(
    /^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?=[A-Za-z0-9-])){0,39}$/,
    'expected letters, digits, `-` and single `_` inside, at most 40',
  )
  .refine((name) => name !== 'countersign', '`countersign` is the name of the gateway’s own tools')
  .describe('Name of the upstream; its tools are exported as NAME__tool.')

export const sandboxMode = z
  .enum(['require', 'prefer', 'none'])
  .describe(
    'require: not started where it cannot be confined · prefer: started anyway, with a warning · none: never confined.',
  )

const place = text('A file or folder, relative to this file.')

const sandboxSchema = z
  .union([
    sandboxMode,
    z.strictObject({
      mode: sandboxMode.exactOptional(),
      read: z.array(place).max(64).default([]).describe('What it may read, besides the system, itself and its `cwd`.'),
      write: z.array(place).max(64).default([]).describe('What it may read and write.'),
      network: z.boolean().default(false).describe('true: it may use the network, all of it.'),
    }),
  ])
  .describe('How the program is confined, and what it may reach. For a program only.')

export const serverSchema = z
  .strictObject({
    command: text('Program to start. `node` means the Node that runs Countersign.').exactOptional(),
    args: z
      .array(text('One argument.'))
      .max(256)
      .exactOptional()
      .describe('Its arguments, shown to everybody: no secrets.'),
    cwd: text(
      'Working folder of the program, relative to this file. Default: the folder of this file.',
    ).exactOptional(),
    env: z
      .record(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'expected the name of an environment variable'), z.string())
      .exactOptional()
      .describe('All that the program gets besides PATH and HOME. A value filled from ${VAR} is kept as a secret.'),
    url: z
      .url({ protocol: /^https?$/, error: 'expected an http:// or https:// URL' })
      .exactOptional()
      .describe('Endpoint of a remote server: Streamable HTTP, or HTTP+SSE of 2024-11-05, which is found out.'),
    headers: z
      .record(
        z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, 'expected the name of a header'),
        z.string().regex(/^[^\r\n\u0000]*$/, 'expected one line'),
      )
      .exactOptional()
      .describe('Sent with every request to the URL; kept as secrets.'),
    auth: authSchema.exactOptional(),
    enabled: z
      .boolean()
      .default(true)
      .describe('false: it is neither started nor connected to. `countersign server approve` lets it start.'),
    revisions: revisionsSchema,
    connectTimeout: duration('How long a first answer may take.').prefault('30s'),
    sandbox: sandboxSchema.exactOptional(),
    resources: allowOrDeny.describe('May resources of this server be listed and read?'),
    prompts: allowOrDeny.describe('May prompts of this server be listed and got?'),
    shared: z
      .boolean()
      .default(false)
      .describe(
        'true: all principals share one connection, and what one of them leaves in the server others may find.',
      ),
    connections: count(
      'How many principals, besides the first, may have a connection (for a program: a process) of their own at one time.',
      0,
      1000,
    ).prefault(16),
    idle: duration('After so long without a call the connection of a principal is ended.').prefault('10m'),
    naming: z.enum(['prefixed', 'bare']).default('prefixed').describe('bare: exported without the name of the server.'),
    asks: asksSchema,
    package: z
      .string()
      .regex(/^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/, 'expected the name of an npm package')
      .exactOptional()
      .describe('npm package whose installed version is part of the identity that is approved.'),
    tools: z
      .record(text('Name of the tool, as the server says it.', 256), profileSchema)
      .default({})
      .describe('Profiles by tool name.'),
  })
  .superRefine((server, context) => {
    const stray = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message })
    for (const part of ['env', 'headers'] as const)
      for (const [key, value] of Object.entries(server[part] ?? {})) {
        const message = isSecretReference(value) ? secretProblem(value) : undefined
        if (message !== undefined) context.addIssue({ code: 'custom', path: [part, key], message })
      }
    if (server.command === undefined && server.url === undefined)
      context.addIssue({ code: 'custom', message: 'expected `command` (a program) or `url` (a remote server)' })
    else if (server.command !== undefined && server.url !== undefined)
      stray('url', 'a server has either `command` or `url`, not both')
    else if (server.url === undefined) {
      if (server.headers !== undefined) stray('headers', '`headers` goes with `url`; a program gets `env`')
      if (server.auth !== undefined) stray('auth', '`auth` goes with `url`')
    } else {
      for (const key of ['args', 'cwd', 'env'] as const)
        if (server[key] !== undefined) stray(key, `\`${key}\` goes with \`command\``)
      if (server.package !== undefined) stray('package', '`package` goes with `command`')
      if (typeof server.sandbox === 'object')
        stray('sandbox', 'a remote server is not confined; `sandbox` goes with `command`')
      const given = Object.keys(server.headers ?? {}).some((name) => name.toLowerCase() === 'authorization')
      if (server.auth !== undefined && given) stray('auth', 'a server has `auth` or a header `Authorization`, not both')
      const { username, password } = new URL(server.url)
      if (username !== '' || password !== '') stray('url', 'expected a URL without credentials; put them in `headers`')
    }
  })
  .describe('One upstream MCP server.')
