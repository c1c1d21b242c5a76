import type { OperationDetail, OperationFilter, OperationView, RefusalView } from '../../api/contract.ts'
import type { Context } from '../context.ts'
import { type Exit, exitOfRefusal, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { visible } from '../../flow/tool/visible.ts'
import { bytes, fromNow, moment } from '../render/moment.ts'
import { factsText, stepLines } from '../render/steps.ts'
import { fieldLines, tableLines } from '../render/table.ts'

interface ListOptions {
  readonly state?: OperationFilter['state']
  readonly limit?: string
}
interface DecideOptions {
  readonly effect?: boolean
  readonly none?: boolean
  readonly hold?: boolean
  readonly why?: string
}

export const declare: Declare = (program, act) => {
  const operation = program
    .command('operation')
    .description(
      'Operations: one intended effect each, and what is known of it.\n' +
        'An unknown outcome ends by looking (reconcile) or by your word (decide), and never by a repetition.\n\n' +
        'Examples:\n' +
        '  countersign operation list --state unknown\n' +
        '  countersign operation reconcile op_…\n' +
        '  countersign operation decide op_… --effect --why "the ticket is there"',
    )
  operation
    .command('list')
    .description('the newest first')
    .option('--state <state>', 'one state, e.g. unknown; or open: all that is not settled')
    .option('--limit <n>', 'how many (default: 50)')
    .action(act(list))
  operation
    .command('show')
    .argument('<id>')
    .description('one operation: arguments, result, and everything that was recorded of it')
    .action(act((context, _options, id) => show(context, id!)))
  operation
    .command('reconcile')
    .argument('<id>')
    .description('look what became of it, by the read-back that its profile names')
    .action(act((context, _options, id) => reconcile(context, id!)))
  operation
    .command('compensate')
    .argument('<id>')
    .description('undo it, by the call that its profile names: an operation of its own, with an approval of its own')
    .action(act((context, _options, id) => compensate(context, id!)))
  operation
    .command('decide')
    .argument('<id>')
    .description('say what became of it; your word goes on the record')
    .option('--effect', 'it took effect')
    .option('--none', 'it had no effect, so it may be done again')
    .option('--hold', 'it stays open: nothing repeats it meanwhile')
    .option('--why <text>', 'how you know')
    .action(act((context, options: DecideOptions, id) => decide(context, options, id!)))
  return operation
}

async function list(context: Context, { state, limit }: ListOptions): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const operations = await client.operations({
    ...(state === undefined ? {} : { state }),
    ...(limit === undefined ? {} : { limit: Number(limit) }),
  })
  if (io.json) io.outJson({ operations })
  else {
    const rows = operations.map((it) => [
      it.id,
      it.state,
      it.tool,
      it.principal,
      it.acceptance,
      fromNow(it.updatedAt),
      it.why ?? '',
    ])
    for (const line of tableLines(['ID', 'STATE', 'TOOL', 'FOR', 'ACCEPTANCE', 'CHANGED', 'WHY'], rows, io))
      io.out(line)
  }
  return exits.done
}

async function show(context: Context, id: string): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const operation = await client.operation(id)
  if (io.json) io.outJson(operation)
  else for (const line of operationLines(operation, io)) io.out(line)
  return exits.done
}

function operationLines(it: OperationDetail, io: Pick<Io, 'columns' | 'paint'>): string[] {
  const fields = {
    operation: it.id,
    state: it.standing === undefined ? it.state : `${it.state} (${it.standing})`,
    acceptance: it.acceptance,
    why: it.why,
    tool: it.tool,
    effect: it.effect,
    for: `${it.principal} (${it.tenant})`,
    attempts: it.attempts,
    created: moment(it.createdAt),
    dispatched: moment(it.dispatchedAt),
    changed: moment(it.updatedAt),
    'looked for again': it.nextDueAt === undefined ? undefined : fromNow(it.nextDueAt),
    approval: it.approval,
    'repeat of': it.repeatOf,
    definition: it.pin,
    reverses: it.reverses,
    'undone by': it.compensatedBy,
    receipt: it.receiptRef,
    'result size': bytes(it.resultBytes),
  }
  return [
    ...fieldLines(fields, io),
    ...block('arguments', it.arguments, io),
    ...block(it.resultCut === true ? 'result (its beginning)' : 'result', it.result, io),
    ...it.happenings.flatMap(({ seq, kind, at, path, steps, facts }) => [
      '',
      io.paint('bold', `${moment(at)}  ${kind}  (record ${seq})${path === undefined ? '' : `  ${path.join(' → ')}`}`),
      ...(facts === undefined ? [] : [`  ${factsText(facts)}`]),
      ...stepLines(steps ?? [], io).map((line) => `  ${line}`),
    ]),
  ]
}

function block(title: string, text: string | undefined, io: Pick<Io, 'paint'>): string[] {
  return text === undefined ? [] : ['', io.paint('bold', title), visible(text)]
}

async function reconcile(context: Context, id: string): Promise<Exit> {
  const { client } = await context.attach()
  return tell(context, await client.reconcileOperation(id))
}

async function compensate(context: Context, id: string): Promise<Exit> {
  const { client } = await context.attach()
  return tell(context, await client.compensateOperation(id))
}

async function decide(context: Context, { effect, none, hold, why }: DecideOptions, id: string): Promise<Exit> {
  const said = (
    [
      ['effect', effect],
      ['none', none],
      ['hold', hold],
    ] as const
  )
    .filter(([, is]) => is === true)
    .map(([decision]) => decision)
  const [decision] = said
  if (decision === undefined || said.length > 1)
    throw new UsageFault('expected exactly one of --effect, --none, --hold')
  if (why === undefined || why.trim() === '')
    throw new UsageFault('a decision needs --why TEXT', 'It is all that later readers have to go by.')
  const { client } = await context.attach()
  return tell(context, await client.decideOperation(id, { decision, why }))
}

function tell({ io }: Context, outcome: OperationView | RefusalView): Exit {
  if (io.json) io.outJson(outcome)
  if ('code' in outcome) {
    if (!io.json) io.out(`${outcome.code}: ${outcome.say} ${factsText(outcome.facts)}\n→ ${outcome.next}`)
    return exitOfRefusal(outcome)
  }
  if (!io.json)
    io.out(`${outcome.id}: ${outcome.state}${outcome.why === undefined ? '' : ` (${visible(outcome.why)})`}`)
  return outcome.state === 'unknown' || outcome.state === 'held' ? exits.unknown : exits.done
}
