import type { EvidenceFilter } from '../../api/contract.ts'
import { textMember } from '../../words/json.ts'
import type { Context } from '../context.ts'
import { exportTo, type ExportOptions } from '../evidence/export.ts'
import { replay, type ReplayOptions } from '../evidence/replay.ts'
import { verify, type VerifyOptions } from '../evidence/verify.ts'
import { type Exit, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import type { Declare } from '../program.ts'
import { moment } from '../render/moment.ts'
import { tableLines } from '../render/table.ts'

interface EraseOptions {
  readonly tenant?: string
  readonly why?: string
  readonly yes?: boolean
}

interface ShowOptions {
  readonly operation?: string
  readonly approval?: string
  readonly from?: string
  readonly limit?: string
}

export const declare: Declare = (program, act) => {
  const evidence = program
    .command('evidence')
    .description(
      'The chained record of every verdict. Anyone can check an export, without this gateway and without its database.\n\n' +
        'Examples:\n' +
        '  countersign evidence show op_…\n' +
        '  countersign evidence export evidence.jsonl\n' +
        '  countersign evidence verify evidence.jsonl --key evidence.pub.pem',
    )
  evidence
    .command('show')
    .argument('[id]', 'an operation (op_…) or an approval (apr_…)')
    .description('records; without an id the newest')
    .option('--from <n>', 'from that record on')
    .option('--limit <n>', 'how many (default: 50)')
    .action(act((context, options: ShowOptions, id) => show(context, options, id)))
  evidence
    .command('export')
    .argument('[file]', 'where to; without it, stdout')
    .description('write records with a signed checkpoint over them; with a filter each with its proof of inclusion')
    .option('--tenant <name>', 'only records of that tenant')
    .option('--principal <name>', 'only records of that principal')
    .option('--tool <server/tool>', 'only records of that tool')
    .option('--operation <id>', 'only records of that operation')
    .option('--kind <kind>', 'only records of that kind')
    .option('--since <when>', 'only records from then on: a date and time, or a time back like 24h')
    .option('--until <when>', 'only records before then')
    .option('--payloads', 'with what was sent and answered, opened: for whoever may read it')
    .action(act((context, options: ExportOptions, file) => exportTo(context, options, file)))
  evidence
    .command('verify')
    .argument('[file]', 'an export; without it, the live ledger of the home')
    .description('exit code 0: valid; 10: tampered; 11: valid as far as it goes, but incomplete; 12: cannot be judged')
    .option('--key <file>', 'public key (PEM) that you trust; without it the key in the export is used')
    .option('--anchors <file>', 'checkpoints that were kept elsewhere, which the export has to agree with')
    .action(act((context, options: VerifyOptions, file) => verify(context, options, file)))
  evidence
    .command('erase')
    .argument('<principal>', 'whose payloads are to be unreadable, for good')
    .description(
      'destroy the key of all that was sent, answered and asked for a principal; the chain stays valid\n\n' +
        "Example:\n  countersign evidence erase ada --yes --why 'she asked for it'",
    )
    .option('--tenant <name>', 'the tenant of the principal (default: local)')
    .option('--why <text>', 'goes on record')
    .option('--yes', 'it cannot be undone: say that you mean it')
    .action(act((context, options: EraseOptions, principal) => erase(context, options, principal!)))
  evidence
    .command('replay')
    .description(
      'judge what is on record again under other policies, and list every decision that would change; contacts nothing\n\n' +
        'Example:\n  countersign evidence replay --policy policy.next --since 7d',
    )
    .option('--policy <dir>', 'folder of the .cedar files to try')
    .option('--since <when>', 'only records from then on: a date and time, or a time back like 24h')
    .action(act((context, options: ReplayOptions) => replay(context, options)))
  evidence
    .command('rotate')
    .description('a new signing key, which the old one signs before it is forgotten')
    .action(act(rotate))
  return evidence
}

async function show(context: Context, { from, limit }: ShowOptions, id: string | undefined): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const about: Partial<EvidenceFilter> =
    id === undefined ? {} : id.startsWith('apr_') ? { approval: id } : { operation: id }
  const records = await client.evidence({
    ...about,
    ...(from === undefined ? {} : { from: Number(from) }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  })
  if (io.json) io.outJson({ records })
  else {
    const rows = records.map((record) => [
      JSON.stringify(record['seq']),
      moment(Number(record['at'])),
      textMember(record, 'kind') ?? '',
      textMember(record, 'operation') ?? textMember(record, 'approval') ?? '',
      textMember(record, 'principal') ?? '',
      textMember(record, 'tool') ?? '',
    ])
    for (const line of tableLines(['RECORD', 'AT', 'KIND', 'ABOUT', 'FOR', 'TOOL'], rows, io)) io.out(line)
  }
  return exits.done
}

async function erase(context: Context, { tenant = 'local', why, yes }: EraseOptions, principal: string): Promise<Exit> {
  const { io } = context
  if (yes !== true || why === undefined || why === '')
    throw new UsageFault('what is erased is gone for good', 'Say so with --yes, and why with --why TEXT.')
  const { client } = await context.attach()
  const { keys } = await client.eraseSubject({ tenant, principal, why })
  if (io.json) io.outJson({ keys })
  else io.out(`erased: ${keys.join(', ')}. Copies of keys/ that were made before still open it: destroy them too.`)
  return exits.done
}

async function rotate(context: Context): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const { key } = await client.rotateKey()
  if (io.json) io.outJson({ key })
  else io.out(`${key} signs from now on; keys/evidence.pub.pem of the home is its public half`)
  return exits.done
}
