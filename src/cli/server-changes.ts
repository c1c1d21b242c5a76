import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { inlineCodeSwitch } from '../config/import/inline-code.ts'
import { writeInPlace, writeOurs } from '../config/import/connection.ts'
import { entriesOf, readText } from '../config/import/format.ts'
import { looksSecret } from '../config/import/looks-secret.ts'
import { serversIn, withAdmitted, withServers } from '../config/import/our-file.ts'
import { bytesOf, clientFile, digestOf, takeOver } from '../config/import/plan.ts'
import { namesSecret } from '../config/interpolate.ts'
import { makeHome } from '../gateway/home.ts'
import { isJsonObject, type JsonObject, member } from '../words/json.ts'
import { type AgreeOptions, agrees } from './agreement.ts'
import { clientNamed, planLines, planOptions, serverLine } from './connecting.ts'
import type { Context, GlobalOptions } from './context.ts'
import { type Exit, exits } from './exits.ts'
import { UsageFault } from './fault.ts'

export interface AddOptions extends AgreeOptions {
  readonly url?: string
  readonly cwd?: string
  readonly env?: readonly string[]
  readonly header?: readonly string[]
}

/** `server add`: what will be started is shown, and is written down only after a yes. */
export async function addServer(
  context: Context,
  options: AddOptions,
  [name, ...words]: readonly string[],
): Promise<Exit> {
  const server = serverOf(options, words)
  const { file, text } = ours(context)
  if (member(serversIn(text, file), name!) !== undefined)
    throw new UsageFault(
      `there is a server \`${name}\` already`,
      'Choose another name, or `countersign server remove` it.',
    )
  const after = withServers(file, text, { put: { [name!]: server } }, process.env)
  return change(context, options, {
    file,
    text,
    after,
    shown: [`${name}: ${serverLine(server)}`],
    json: { name, server },
  })
}

export async function removeServers(context: Context, options: AgreeOptions, names: readonly string[]): Promise<Exit> {
  const { file, text } = ours(context)
  const servers = known(file, text, names)
  const after = withServers(file, text, { remove: names }, process.env)
  const shown = servers.map(([name, server]) => `${name}: ${serverLine(server)} is taken out`)
  return change(context, options, { file, text, after, shown, json: { removed: names } })
}

/** `server approve`: lets servers start that were imported. */
export async function approveServers(context: Context, options: AgreeOptions, names: readonly string[]): Promise<Exit> {
  const { file, text } = ours(context)
  const servers = known(file, text, names)
  for (const [name, server] of servers) assertNoInlineCode(name, server)
  const after = withAdmitted(file, text, names, process.env)
  const shown = servers.map(([name, server]) => `${name}: ${serverLine(server)}`)
  return change(context, options, { file, text, after, shown, json: { approved: names } })
}

/** `server import`: as `connect`, and the client's file stays as it is. */
export async function importServers(
  context: Context,
  globals: GlobalOptions,
  options: AgreeOptions & { readonly file?: string },
  name: string,
): Promise<Exit> {
  const { io } = context
  const wanted = planOptions(context, globals, clientNamed(name), options.file)
  const { client } = wanted
  const file = clientFile(client, options.file, wanted.here)
  if (!existsSync(file)) throw new UsageFault(`${file} does not exist`, 'Name the file with --file.')
  const entries = entriesOf(readText(readFileSync(file, 'utf8'), client.format, file), client.root, file)
  const before = bytesOf(wanted.config)
  const { ours: after, ...taken } = takeOver(entries, file, wanted)
  const digest = digestOf([client.name, file, wanted.config, before, after])
  if (!io.json) {
    for (const line of planLines({ client, file, ...taken }, io)) io.out(line)
    if (options.dryRun === true) io.out(`  digest ${digest.slice(0, 16)}`)
  }
  const agreed = await agrees(context, options, digest)
  if (agreed) {
    makeHome(wanted.home)
    assertSame(wanted.config, before)
    writeOurs({ secrets: taken.secrets, ours: { file: wanted.config, before, after } })
  }
  if (io.json) io.outJson({ client: client.name, file, imported: agreed, ...taken, secrets: undefined, digest })
  else if (!agreed) io.note('Nothing was changed.')
  else
    io.note(
      `Nothing of it starts before you let it: countersign server approve ${taken.servers.map((it) => it.name).join(' ')}`,
    )
  return exits.done
}

interface Change {
  readonly file: string
  readonly text: string
  readonly after: string
  readonly shown: readonly string[]
  readonly json: object
}

async function change(
  context: Context,
  options: AgreeOptions,
  { file, text, after, shown, json }: Change,
): Promise<Exit> {
  const { io } = context
  const digest = createHash('sha256').update(`${text}\u0000${after}`).digest('hex')
  if (!io.json)
    for (const line of [...shown, ...(options.dryRun === true ? [`digest ${digest.slice(0, 16)}`] : [])]) io.out(line)
  const agreed = await agrees(context, options, digest)
  if (agreed) {
    assertSame(file, Buffer.from(text))
    if (after !== text) writeInPlace(file, after)
  }
  if (io.json) io.outJson({ ...json, changed: agreed && after !== text, digest })
  else io.note(agreed ? `${file} was changed.` : 'Nothing was changed.')
  return exits.done
}

function ours(context: Context): { file: string; text: string } {
  const file = context.configFile() ?? resolve('countersign.yaml')
  if (!existsSync(file)) throw new UsageFault('there is no countersign.yaml here', 'Run `countersign init` first.')
  return { file, text: readFileSync(file, 'utf8') }
}

function known(file: string, text: string, names: readonly string[]): (readonly [string, JsonObject])[] {
  const servers = serversIn(text, file)
  return names.map((name) => {
    const server = member(servers, name)
    if (!isJsonObject(server))
      throw new UsageFault(
        `there is no server \`${name}\` in ${file}`,
        `There: ${Object.keys(servers).join(', ') || 'none'}.`,
      )
    return [name, server] as const
  })
}

function assertSame(file: string, before: Buffer | undefined): void {
  const now = bytesOf(file)
  if (now === before || (now !== undefined && before !== undefined && now.equals(before))) return
  throw Object.assign(new Error(`${file} was changed since it was shown; nothing was written`), {
    code: 'PREVIEW_STALE',
    hint: 'Run the command again, and look at what it shows.',
  })
}

function serverOf({ url, cwd, env = [], header = [] }: AddOptions, words: readonly string[]): JsonObject {
  const [command, ...args] = words
  if ((command === undefined) === (url === undefined))
    throw new UsageFault(
      'expected `-- COMMAND ARGUMENTS…`, or --url URL',
      'Example: countersign server add files -- npx -y @modelcontextprotocol/server-filesystem .',
    )
  const server = {
    ...(command === undefined ? {} : { command }),
    ...(args.length === 0 ? {} : { args }),
    ...(url === undefined ? {} : { url }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(env.length === 0 ? {} : { env: Object.fromEntries(env.map((it) => pairOf(it, '--env', '='))) }),
    ...(header.length === 0 ? {} : { headers: Object.fromEntries(header.map((it) => pairOf(it, '--header', ':'))) }),
  }
  assertNoInlineCode('it', server)
  const open = [command ?? '', ...args, url ?? ''].find(looksSecret)
  if (open !== undefined)
    throw new UsageFault(
      'there is a secret among the arguments, where everybody sees it',
      'Give it by --env NAME=secret://file/PATH.',
    )
  return server
}

function assertNoInlineCode(name: string, { command, args }: JsonObject): void {
  const words = Array.isArray(args) ? (args as readonly string[]).map(String) : []
  const code = typeof command === 'string' ? inlineCodeSwitch(command, words) : undefined
  if (code !== undefined)
    throw new UsageFault(
      `${name}: \`${code}\` runs code out of its own arguments, so that approving the program would approve nothing`,
      'Put the code into a file, and start that.',
    )
}

/** `NAME=value`; for what may be a secret only where it lies, since arguments are seen by everybody on the machine. */
function pairOf(given: string, option: string, sign: string): readonly [string, string] {
  const at = given.indexOf(sign)
  const [name, value] = at < 0 ? [given, `secret://env/${given}`] : [given.slice(0, at), given.slice(at + 1).trim()]
  const secret = namesSecret(name) || /^(authorization|cookie)$/i.test(name) || looksSecret(value)
  if (secret && !/secret:\/\/|\$\{\w+\}/.test(value))
    throw new UsageFault(
      `${option} ${name}: a secret is not given on the command line`,
      `Write ${name}${sign}secret://file/PATH or secret://env/NAME.`,
    )
  return [name, value]
}
