import { connectClient } from '../../config/import/connection.ts'
import { entryName, type Plan, planConnect } from '../../config/import/plan.ts'
import { makeHome } from '../../gateway/home.ts'
import { type AgreeOptions, agrees, dryRunOption, previewOption, yesOption } from '../agreement.ts'
import { clientNamed, planLines, planOptions } from '../connecting.ts'
import type { Context, GlobalOptions } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import { makePolicy } from '../place.ts'
import type { Declare } from '../program.ts'

interface Options extends AgreeOptions {
  readonly file?: string
}

export const declare: Declare = (program, act) =>
  program
    .command('connect')
    .argument(
      '<client>',
      'claude-code, claude-desktop, vscode, cursor, codex, gemini, zed, goose, opencode, windsurf or cline',
    )
    .description(
      'Put this gateway in front of the servers of a client: they move into our configuration, where nothing of them\n' +
        'starts before you approve it, and one entry stands in their place. `countersign disconnect` undoes it.\n\n' +
        'Examples:\n' +
        '  countersign connect claude-code --dry-run\n' +
        '  countersign connect cursor --file ~/.cursor/mcp.json',
    )
    .option('--file <file>', 'the file of the client, where it is not in its usual place')
    .option(...dryRunOption)
    .option(...yesOption)
    .option(...previewOption)
    .action(act((context, options: Options, name) => connect(context, program.opts<GlobalOptions>(), options, name!)))

async function connect(context: Context, globals: GlobalOptions, options: Options, name: string): Promise<Exit> {
  const { io } = context
  const wanted = planOptions(context, globals, clientNamed(name), options.file)
  const plan = planConnect(wanted)
  if (!io.json) {
    for (const line of planLines(plan, io)) io.out(line)
    io.out(`  then   \`${entryName}\` stands in their place`)
    if (options.dryRun === true) io.out(`  digest ${plan.digest.slice(0, 16)}`)
  }
  const agreed = await agrees(context, options, plan.digest)
  if (agreed) {
    makeHome(wanted.home)
    makePolicy(wanted.config)
    connectClient(plan, wanted.home)
  }
  if (io.json) io.outJson(view(plan, agreed))
  else if (agreed) tellNext(plan, io)
  else io.note('Nothing was changed.')
  return exits.done
}

function tellNext({ client, servers }: Plan, io: Context['io']): void {
  const waiting = servers.filter((it) => !it.known).map((it) => it.name)
  io.note(`${client.title} is connected; start it anew. \`countersign disconnect ${client.name}\` undoes it.`)
  if (waiting.length > 0)
    io.note(`Nothing of it starts before you let it: countersign server approve ${waiting.join(' ')}`)
}

function view({ client, file, servers, left, notes, digest }: Plan, connected: boolean): object {
  return { client: client.name, file, connected, servers, left, notes, digest }
}
