import type { ApprovalView, RefusalView } from '../../api/contract.ts'
import type { Context } from '../context.ts'
import { type Exit, exitOfRefusal, exits } from '../exits.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { fromNow, moment } from '../render/moment.ts'
import { fieldLines, tableLines } from '../render/table.ts'

interface ListOptions {
  readonly state?: string
  readonly all?: boolean
}

export const declare: Declare = (program, act) => {
  const approval = program
    .command('approval')
    .description(
      'Questions that wait for a person, and their answers.\nA yes is good for one call, as it was shown, until it expires.\n\n' +
        'Examples:\n' +
        '  countersign approval list\n' +
        '  countersign approval watch\n' +
        '  countersign approval deny apr_… --why "not on a Friday"',
    )
  approval
    .command('list')
    .description('what waits; with --all, what was answered too')
    .option('--all', 'in every state')
    .option('--state <state>', 'waiting, granted, denied, used or expired')
    .action(act(list))
  approval
    .command('show')
    .argument('<id>')
    .description('one question, with the whole arguments')
    .action(act((context, _options, id) => show(context, id!)))
  approval
    .command('approve')
    .argument('<id>')
    .description('say yes to exactly what `show` shows')
    .action(act((context, _options, id) => decide(context, id!, 'granted', '')))
  approval
    .command('deny')
    .argument('<id>')
    .description('say no; the same call is not asked again until the no expires')
    .option('--why <text>', 'a reason, for the record and the caller')
    .action(act((context, { why = '' }: { why?: string }, id) => decide(context, id!, 'denied', why)))
  approval
    .command('revoke')
    .argument('<id>')
    .description('take back a question, or a yes that nothing has used yet; the same call is asked anew')
    .option('--why <text>', 'a reason, for the record')
    .action(act((context, { why = '' }: { why?: string }, id) => decide(context, id!, 'revoked', why)))
  approval.command('watch').description('wait for questions and answer them here; ends with Ctrl-C').action(act(watch))
  return approval
}

async function list(context: Context, { state, all }: ListOptions): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const wanted = all === true ? undefined : ((state ?? 'waiting') as ApprovalView['state'])
  const approvals = await client.approvals(wanted === undefined ? {} : { state: wanted })
  if (io.json) io.outJson({ approvals })
  else {
    const rows = approvals.map((it) => [it.id, it.state, it.tool, it.principal, it.risk, expiry(it)])
    for (const line of tableLines(['ID', 'STATE', 'TOOL', 'FOR', 'RISK', 'EXPIRES'], rows, io)) io.out(line)
  }
  return exits.done
}

function expiry({ state, expiresAt }: ApprovalView): string {
  return state === 'waiting' || state === 'granted' ? fromNow(expiresAt) : moment(expiresAt)
}

async function show(context: Context, id: string): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const approval = await client.approval(id)
  if (io.json) io.outJson(approval)
  else await print(approval, io)
  return exits.done
}

async function print(approval: ApprovalView, io: Io): Promise<void> {
  const { visible } = await import('../../flow/tool/visible.ts')
  const { id, state, rule, channels, askedAt, expiresAt, by, channel, decidedAt, why, operation } = approval
  const fields = {
    approval: id,
    state,
    rule,
    'may be answered by': channels.join(', '),
    asked: moment(askedAt),
    expires: moment(expiresAt),
    'answered by': by === undefined ? undefined : `${by}, by ${channel ?? '?'}, ${moment(decidedAt)}`,
    why,
    operation,
  }
  for (const line of fieldLines(fields, io)) io.out(line)
  io.out(`\n${visible(approval.text)}`)
  if (!approval.text.includes(approval.arguments)) io.out(`\nwhole arguments:\n${visible(approval.arguments)}`)
}

async function decide(
  context: Context,
  id: string,
  decision: 'granted' | 'denied' | 'revoked',
  why: string,
): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const decided = await client.decideApproval(id, { decision, channel: 'cli', why })
  if (io.json) io.outJson(decided)
  if ('code' in decided) {
    if (!io.json) io.out(await refusedText(decided, () => client.approval(id)))
    return exitOfRefusal(decided)
  }
  if (!io.json)
    io.out(decision === 'revoked' ? `${id} is taken back; the same call is asked anew.` : answeredText(decided))
  return exits.done
}

/** A question that has its answer is no stale call: it is told what became of it. */
async function refusedText(
  { code, say, next, facts }: RefusalView,
  standing: () => Promise<ApprovalView>,
): Promise<string> {
  if (code === 'AUTHORISATION_STALE' && typeof facts['state'] === 'string') {
    const { decidedText } = await import('../render/decided.ts')
    return decidedText(await standing())
  }
  const { factsText } = await import('../render/steps.ts')
  return `${code}: ${say} ${factsText(facts)}\n→ ${next}`
}

function answeredText({ id, state, tool }: ApprovalView): string {
  if (state === 'granted')
    return `${id} is approved: ${tool} runs once, if its caller still waits or sends the same call again.`
  return `${id} is ${state}.`
}

async function watch(context: Context): Promise<Exit> {
  const { io, signal } = context
  const { client } = await context.attach()
  if (io.json) {
    // One line for each question and for each change of one: for programs, which do not answer by a prompt.
    for await (const approval of await client.watchApprovals('cli', signal)) io.outJson(approval)
    return exits.interrupted
  }
  const { askAlong } = await import('../ask.ts')
  const onChange = ({ id, state, by }: ApprovalView) =>
    io.note(`  ${id}: ${state}${by === undefined ? '' : ` by ${by}`}`)
  io.note(
    io.interactive
      ? 'Waiting for questions. Ctrl-C ends.'
      : 'Nobody can be asked here; questions are only shown. Ctrl-C ends.',
  )
  const { done } = await askAlong({ client, io, wanted: () => true, signal, onChange })
  await done
  return exits.interrupted
}
