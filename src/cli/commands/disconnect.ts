import { clientFile } from '../../config/import/plan.ts'
import { disconnectClient, planDisconnect } from '../../config/import/connection.ts'
import { type AgreeOptions, agrees, dryRunOption, previewOption, yesOption } from '../agreement.ts'
import { clientNamed, surroundings } from '../connecting.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Declare } from '../program.ts'

interface Options extends AgreeOptions {
  readonly file?: string
}

export const declare: Declare = (program, act) =>
  program
    .command('disconnect')
    .argument('<client>', 'as for `connect`')
    .description(
      'Undo `countersign connect`: the file of the client is again what it was, byte for byte. Where it was changed since,\n' +
        'only our entry is taken out, and its servers are put back.\n\n' +
        'Examples:\n  countersign disconnect claude-code',
    )
    .option('--file <file>', 'the file of the client, where it is not in its usual place')
    .option(...dryRunOption)
    .option(...yesOption)
    .option(...previewOption)
    .action(act(disconnect))

async function disconnect(context: Context, options: Options, name?: string): Promise<Exit> {
  const { io } = context
  const client = clientNamed(name!)
  const undoing = planDisconnect(client, clientFile(client, options.file, surroundings()), context.home())
  const { file, how, put, after, servers, digest } = undoing
  if (!io.json) {
    io.out(`${client.title}: ${file}`)
    if (after === undefined) io.out('  it was made by `connect`, and is removed')
    else if (how === 'exact') io.out('  every byte as it was before `connect`')
    else io.out(`  it was changed since; our entry goes, and these come back: ${put.join(', ') || 'none'}`)
    if (options.dryRun === true) io.out(`  digest ${digest.slice(0, 16)}`)
  }
  const agreed = await agrees(context, options, digest)
  if (agreed) disconnectClient(client, undoing, context.home())
  if (io.json) io.outJson({ client: client.name, file, how, disconnected: agreed, put, servers, digest })
  else if (!agreed) io.note('Nothing was changed.')
  else if (servers.length > 0)
    io.note(
      `The servers stay in our configuration too. To take them out: countersign server remove ${servers.join(' ')}`,
    )
  return exits.done
}
