import type { PolicyReport, Status } from '../../api/contract.ts'
import { exits } from '../exits.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { olderPolicy, runsOlderPolicy } from '../older-policy.ts'
import { span } from '../render/moment.ts'
import { fieldLines, tableLines } from '../render/table.ts'

export const declare: Declare = (program, act) =>
  program
    .command('status')
    .description('What runs, and what waits for you.\nStarts nothing: exit code 1 where no gateway runs.')
    .action(
      act(async (context) => {
        const { client } = await context.attach({ start: false })
        const [status, report] = await Promise.all([client.status(), client.checkPolicy()])
        if (context.io.json) context.io.outJson(status)
        else for (const line of statusLines(status, report, context.io)) context.io.out(line)
        return exits.done
      }),
    )

export function statusLines(status: Status, report: PolicyReport, io: Pick<Io, 'columns' | 'paint'>): string[] {
  const { ledger, evidence, policy } = status
  const fields = {
    gateway: `${status.url}  (process ${status.pid}, up for ${span(Date.now() - status.startedAt)})`,
    home: status.home,
    configuration: status.config,
    ledger: `${ledger.state}, ${ledger.records} records${ledger.why === undefined ? '' : `: ${ledger.why}`}`,
    evidence: `key ${evidence.key}, ${evidence.checkpointed} records under the newest checkpoint`,
    policy:
      policy.problems.length === 0
        ? `${policy.version.slice(0, 12)}${runsOlderPolicy(status, report) ? `; ${olderPolicy.says}: ${olderPolicy.fix}` : ''}`
        : `${policy.problems.length} problems; run \`countersign policy check\``,
    running: status.runningCalls,
    'waiting for you': waitingText(status),
  }
  const rows = status.servers.map(({ name, state, tools, why }) => [
    name,
    state,
    String(tools.approved),
    String(tools.pending + tools.changed),
    why ?? '',
  ])
  return [
    ...fieldLines(fields, io),
    '',
    ...tableLines(['SERVER', 'STATE', 'APPROVED', 'IN QUARANTINE', 'WHY'], rows, io),
  ]
}

function waitingText({ waitingApprovals, unknownOperations, reload }: Status): string {
  const waiting = [
    reload?.state === 'held' || reload?.state === 'rejected'
      ? `a change of the configuration, ${reload.state}: ${reload.why ?? ''}`
      : '',
    waitingApprovals > 0 ? `${waitingApprovals} approvals (countersign approval watch)` : '',
    unknownOperations > 0 ? `${unknownOperations} unknown outcomes (countersign operation list --state unknown)` : '',
  ].filter((it) => it !== '')
  return waiting.length === 0 ? 'nothing' : waiting.join(', ')
}
