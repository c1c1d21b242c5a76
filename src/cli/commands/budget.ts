import type { BudgetAccount } from '../../api/contract.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Declare } from '../program.ts'
import { bytes, fromNow, span } from '../render/moment.ts'
import { tableLines } from '../render/table.ts'

export const declare: Declare = (program, act) => {
  const budget = program
    .command('budget')
    .description(
      'What was spent of each budget, by whom, and what is left.\n\nExamples:\n  countersign budget list --json',
    )
  budget.command('list').description('every budget of everybody who has spent something').action(act(list))
  return budget
}

async function list(context: Context): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const budgets = await client.budgets()
  if (io.json) io.outJson({ budgets })
  else {
    const headings = ['BUDGET', 'FOR', 'CALLS', 'TIME', 'RESULTS', 'AT ONCE', 'WINDOW ENDS']
    for (const line of tableLines(headings, budgets.map(rowOf), io)) io.out(line)
  }
  return exits.done
}

function rowOf({ budget, holder, used, running, limits, windowEndsAt }: BudgetAccount): string[] {
  const of = (spent: string, limit: string | undefined) => (limit === undefined ? spent : `${spent} of ${limit}`)
  return [
    budget,
    holder,
    of(String(used.calls), limits.calls?.toString()),
    of(span(used.wallMs), limits.wallMs === undefined ? undefined : span(limits.wallMs)),
    of(bytes(used.resultBytes), limits.resultBytes === undefined ? undefined : bytes(limits.resultBytes)),
    of(String(running), limits.concurrency?.toString()),
    fromNow(windowEndsAt),
  ]
}
