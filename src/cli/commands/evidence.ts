import { open, rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { EvidenceFilter } from '../../api/contract.ts'
import type { Judgement } from '../../flow/evidence/index.ts'
import type { Context } from '../context.ts'
import { type Exit, exitOfJudgement, exits } from '../exits.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { textMember } from '../../words/json.ts'
import { moment } from '../render/moment.ts'
import { fieldLines, tableLines } from '../render/table.ts'

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
    .description('write all records with a signed checkpoint over them')
    .action(act((context, _options, file) => exportTo(context, file)))
  evidence
    .command('verify')
    .argument('[file]', 'an export; without it, the live ledger of the home')
    .description('exit code 0: valid; 10: tampered; 11: valid as far as it goes, but incomplete; 12: cannot be judged')
    .option('--key <file>', 'public key (PEM) that you trust; without it the key in the export is used')
    .action(act((context, options: { key?: string }, file) => verify(context, options, file)))
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

async function exportTo(context: Context, file: string | undefined): Promise<Exit> {
  const { io, signal } = context
  const { client } = await context.attach()
  const stream = await client.exportEvidence(signal)
  if (file === undefined) {
    for await (const part of stream as AsyncIterable<Buffer>) io.write(part)
    return exits.done
  }
  const path = resolve(file)
  const partial = `${path}.partial`
  // An export that broke off must not look like one, and one that is there is not written over.
  const target = await open(path, 'wx', 0o600)
  await target.close()
  try {
    const written = await open(partial, 'w', 0o600)
    try {
      for await (const part of stream as AsyncIterable<Buffer>) await written.writeFile(part)
      await written.sync()
    } finally {
      await written.close()
    }
    await rename(partial, path)
  } catch (fault) {
    await rm(partial, { force: true })
    await rm(path, { force: true })
    throw fault
  }
  if (io.json) io.outJson({ file: path })
  else io.out(path)
  return exits.done
}

async function verify(context: Context, { key }: { key?: string }, file: string | undefined): Promise<Exit> {
  const { io } = context
  const judgement = file === undefined ? await judgeLive(context) : await judgeExport(file, key)
  if (io.json) io.outJson(judgement)
  else for (const line of judgementLines(judgement, key !== undefined, io)) io.out(line)
  return exitOfJudgement(judgement)
}

/** By the gateway itself while it writes, so that nothing is written between two looks; from the files alone otherwise. */
async function judgeLive(context: Context): Promise<Judgement> {
  const home = context.home()
  const { ownerOf } = await import('../../gateway/ownership.ts')
  if (ownerOf(home) !== undefined) {
    const { client } = await context.attach({ start: false })
    return client.verifyEvidence()
  }
  const { verifyLedger } = await import('../../store/sqlite/verify.ts')
  return verifyLedger(home)
}

async function judgeExport(file: string, key: string | undefined): Promise<Judgement> {
  const [{ verifyExport }, { readFile }] = await Promise.all([
    import('../../flow/evidence/index.ts'),
    import('node:fs/promises'),
  ])
  return verifyExport(resolve(file), key === undefined ? undefined : await readFile(key, 'utf8'))
}

function judgementLines(
  { verdict, records, firstBad, why, key }: Judgement,
  trusted: boolean,
  io: Pick<Io, 'paint'>,
): string[] {
  const color = verdict === 'valid' ? 'green' : 'red'
  const fields = {
    records,
    'first that does not fit': firstBad,
    why: why.join('; '),
    key:
      key === undefined
        ? undefined
        : trusted
          ? `${key} (the one that you named)`
          : `${key} (compare it with what you know, or name a --key)`,
  }
  return [io.paint(color, verdict), ...fieldLines(fields, io)]
}
