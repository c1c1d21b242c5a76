import type { ServerDetail } from '../../api/contract.ts'
import { type AgreeOptions, dryRunOption, previewOption, yesOption } from '../agreement.ts'
import { collect } from '../arguments.ts'
import type { Context, GlobalOptions } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { textMember } from '../../words/json.ts'
import { authFields, login, logout } from '../login.ts'
import { differenceLines } from '../render/difference.ts'
import { fromNow, moment, span } from '../render/moment.ts'
import { fieldLines, tableLines } from '../render/table.ts'
import { plain } from '../render/width.ts'
import { type AddOptions, addServer, approveServers, importServers, removeServers } from '../server-changes.ts'

export const declare: Declare = (program, act) => {
  const server = program
    .command('server')
    .description(
      'Upstream MCP servers: what they are, and whether they are connected.\n\n' +
        'Examples:\n' +
        '  countersign server list\n' +
        '  countersign server show filesystem\n' +
        '  countersign server login tickets\n' +
        '  countersign server add files -- npx -y @modelcontextprotocol/server-filesystem .',
    )
  server.command('list').description('every server of the configuration').action(act(list))
  server
    .command('show')
    .argument('<server>')
    .description('one server: identity, what was negotiated, what changed')
    .action(act((context, _options, name) => show(context, name!)))
  server
    .command('login')
    .argument('<server>')
    .description('log in at the authorization server of a remote server, in a browser')
    .option('--headless', 'no browser here: paste the URL that it is sent to')
    .action(act((context, { headless }, name) => login(context, name!, headless === true)))
  server
    .command('logout')
    .argument('<server>')
    .description('forget the tokens for a server')
    .action(act((context, _options, name) => logout(context, name!)))
  server
    .command('add')
    .argument('<name>')
    .argument('[command...]', 'after `--`: the program and its arguments; no shell takes them apart')
    .description('write a server into the configuration; its tools are in quarantine until you approve them')
    .option('--url <url>', 'a remote server instead of a program')
    .option('--cwd <folder>', 'working folder of the program')
    .option(
      '--env <name=value>',
      'a variable; a name alone takes it from the environment; secrets by reference',
      collect,
    )
    .option('--header <name:value>', 'a header for --url; secrets by reference', collect)
    .option(...dryRunOption)
    .option(...yesOption)
    .option(...previewOption)
    .action(act((context, options: AddOptions, ...words) => addServer(context, options, words)))
  server
    .command('import')
    .argument('<client>', 'as for `countersign connect`')
    .description('take over the servers of a client, and leave its file as it is; nothing of them starts yet')
    .option('--file <file>', 'the file of the client')
    .option(...dryRunOption)
    .option(...yesOption)
    .option(...previewOption)
    .action(
      act((context, options: AgreeOptions, name) =>
        importServers(context, program.opts<GlobalOptions>(), options, name!),
      ),
    )
  server
    .command('approve')
    .argument('<server...>')
    .description('let servers start that were imported')
    .option(...dryRunOption)
    .option(...yesOption)
    .option(...previewOption)
    .action(act((context, options: AgreeOptions, ...names) => approveServers(context, options, names)))
  server
    .command('remove')
    .argument('<server...>')
    .description('take servers out of the configuration')
    .option(...dryRunOption)
    .option(...yesOption)
    .option(...previewOption)
    .action(act((context, options: AgreeOptions, ...names) => removeServers(context, options, names)))
  return server
}

async function list(context: Context): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const servers = await client.servers()
  if (io.json) io.outJson({ servers })
  else {
    const rows = servers.map((it) => [
      it.name,
      it.state,
      it.revision ?? '',
      it.serverInfo === undefined ? '' : (textMember(it.serverInfo, 'version') ?? ''),
      String(it.tools.approved),
      String(it.tools.pending + it.tools.changed),
      it.why ?? '',
    ])
    for (const line of tableLines(
      ['SERVER', 'STATE', 'REVISION', 'VERSION', 'APPROVED', 'IN QUARANTINE', 'WHY'],
      rows,
      io,
    ))
      io.out(line)
  }
  // The list is the gateway's; a configuration that cannot be read now takes nothing from it.
  const waiting = await context.config().then(
    (config) => config.waiting,
    () => [],
  )
  if (waiting.length > 0) io.note(`Not started, since nobody let them: countersign server approve ${waiting.join(' ')}`)
  return exits.done
}

async function show(context: Context, name: string): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const server = await client.server(name)
  if (io.json) io.outJson(server)
  else for (const line of serverLines(server, io)) io.out(line)
  return exits.done
}

function serverLines(server: ServerDetail, io: Pick<Io, 'columns' | 'paint'>): string[] {
  const changed = server.approvedIdentityDigest !== undefined && server.approvedIdentityDigest !== server.identityDigest
  const fields = {
    server: server.name,
    state: server.state,
    why: server.why,
    'tried again': server.nextTryAt === undefined ? undefined : fromNow(server.nextTryAt),
    identity: JSON.stringify(server.identity),
    'identity digest': server.identityDigest,
    'approved identity': changed ? `${server.approvedIdentityDigest} (another one)` : server.approvedIdentityDigest,
    'calls itself': server.serverInfo === undefined ? undefined : JSON.stringify(server.serverInfo),
    transport: server.transport,
    revision: server.revision,
    'process id': server.pid,
    connected: server.connectedAt === undefined ? undefined : moment(server.connectedAt),
    capabilities: server.capabilities === undefined ? undefined : Object.keys(server.capabilities).join(', '),
    'tools approved': server.tools.approved,
    'tools in quarantine': server.tools.pending + server.tools.changed,
    lists: server.lists.map(listLine).join('; '),
    connections: connectionsLine(server),
    naming: server.naming,
    resources: server.resources,
    prompts: server.prompts,
    sandbox:
      server.sandbox === 'none'
        ? `none (${server.sandboxWhy ?? (server.transport === 'stdio' ? 'as the configuration says' : 'not a program')})`
        : `${server.sandbox} (${server.sandboxWanted})`,
    'not understood': straysLine(server),
    'left out': server.leftOut.map(({ name, why }) => `${name} (${why})`).join('; '),
    ...authFields(server),
    instructions: server.instructions,
  }
  const said =
    server.errorOutput.length === 0 ? [] : ['', io.paint('bold', 'standard error'), ...server.errorOutput.map(plain)]
  return [...fieldLines(fields, io), ...differenceLines(server.differences, io), ...said]
}

function listLine({ list, items, readAt, nextAt, ttlMs, why }: ServerDetail['lists'][number]): string {
  const parts = [
    `${items ?? 'unknown'} ${list}`,
    readAt === undefined ? undefined : `read ${fromNow(readAt)}`,
    nextAt === undefined ? undefined : `again ${fromNow(nextAt)}`,
    ttlMs === undefined ? undefined : `fresh for ${span(ttlMs)} by its own word`,
    why,
  ]
  return parts.filter((part) => part !== undefined).join(', ')
}

function connectionsLine({ connections: { shared, open, most } }: ServerDetail): string {
  return shared ? 'one for all principals' : `one for each principal: the first, and ${open} of ${most} more`
}

function straysLine({ strays: { noise, answers, oversize } }: ServerDetail): string | undefined {
  if (noise + answers + oversize === 0) return undefined
  return `${noise} lines that are no message, ${answers} answers to nothing, ${oversize} messages beyond the limit`
}
