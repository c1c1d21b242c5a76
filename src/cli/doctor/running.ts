import type { Status } from '../../api/contract.ts'
import { ControlFault } from '../../gateway/control/fault.ts'
import type { ControlClient } from '../../gateway/control/client.ts'
import type { Context } from '../context.ts'
import { olderPolicy, runsOlderPolicy } from '../older-policy.ts'
import { fail, failOf, type Finding, ok, warn } from './finding.ts'

/** The gateway, its upstreams, its policies and its evidence; from the files alone where no gateway runs. */
export async function examineRunning(context: Context): Promise<Finding[]> {
  try {
    const { client } = await context.attach({ start: false })
    const status = await client.status()
    return [
      ok('gateway', `${status.url}, process ${status.pid}`),
      examineLedger(status),
      ...status.servers.map(examineServer),
      await examinePolicy(client, status),
      await examineEvidence(() => client.verifyEvidence()),
      ...examineOpen(status),
    ]
  } catch (fault) {
    if (!(fault instanceof ControlFault)) return [failOf('gateway', fault)]
    if (fault.code !== 'GATEWAY_UNREACHABLE') return [failOf('gateway', fault)]
    const { verifyLedger } = await import('../../store/sqlite/verify.ts')
    return [
      warn('gateway', 'none runs, so servers and policies were not tried', 'Run `countersign up`, then look again.'),
      await examineEvidence(() => Promise.resolve(verifyLedger(context.home()))),
    ]
  }
}

function examineLedger({ ledger }: Status): Finding {
  const what = 'ledger'
  if (ledger.state === 'ok') return ok(what, `${ledger.records} records`)
  return fail(
    what,
    `${ledger.state}${ledger.why === undefined ? '' : `: ${ledger.why}`}`,
    'Nothing with an effect is sent. Look at the disk, and run `countersign evidence verify`.',
  )
}

function examineServer({ name, state, why, lastWords, tools }: Status['servers'][number]): Finding {
  const what = `server ${name}`
  const quarantined = tools.pending + tools.changed
  if (state !== 'ready')
    return fail(
      what,
      `${state}${why === undefined ? '' : `: ${why}`}${lastWords === undefined ? '' : `; it said: ${lastWords}`}`,
      `Mend what it says; see \`countersign server show ${name}\`.`,
    )
  if (quarantined > 0)
    return warn(
      what,
      `${tools.approved} tools approved, ${quarantined} in quarantine`,
      `Read them: countersign tool list --server ${name}.`,
    )
  return ok(what, `${tools.approved} tools approved`)
}

async function examinePolicy(client: ControlClient, status: Status): Promise<Finding> {
  const report = await client.checkPolicy()
  const { ok: usable, policies, problems } = report
  if (runsOlderPolicy(status, report)) return warn('policies', olderPolicy.says, policyFix(usable))
  return usable
    ? ok('policies', `${policies} policies`)
    : fail(
        'policies',
        problems
          .map(({ message }) => message)
          .slice(0, 3)
          .join('; '),
        'Run `countersign policy check`.',
      )
}

function policyFix(usable: boolean): string {
  return usable ? olderPolicy.fix : `Mend what \`countersign policy check\` names; ${olderPolicy.fix}`
}

async function examineEvidence(
  judge: () => Promise<{ verdict: string; records: number; why: readonly string[] }>,
): Promise<Finding> {
  const what = 'evidence'
  try {
    const { verdict, records, why } = await judge()
    if (verdict === 'valid') return ok(what, `${records} records, all of them fit`)
    if (verdict === 'unjudgeable' && records === 0) return ok(what, 'nothing is on record yet')
    return fail(
      what,
      `${verdict}: ${why.join('; ')}`,
      'Put the newest copy of the ledger back, or keep it aside and start a new home.',
    )
  } catch (fault) {
    return failOf(what, fault)
  }
}

function examineOpen({ waitingApprovals, unknownOperations }: Status): Finding[] {
  const findings: Finding[] = []
  if (waitingApprovals > 0)
    findings.push(warn('approvals', `${waitingApprovals} wait for an answer`, 'countersign approval watch'))
  if (unknownOperations > 0)
    findings.push(
      warn(
        'operations',
        `${unknownOperations} have an outcome that nobody knows`,
        'countersign operation list --state unknown',
      ),
    )
  return findings
}
