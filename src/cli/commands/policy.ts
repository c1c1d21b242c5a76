import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Declare } from '../program.ts'
import { olderPolicy, runsOlderPolicy } from '../older-policy.ts'
import type { PolicyTestOptions } from '../policy-test.ts'
import { plain } from '../render/width.ts'

export const declare: Declare = (program, act) => {
  const policy = program
    .command('policy')
    .description(
      'The Cedar policies in the folder that the configuration names.\n\nExamples:\n  countersign policy check\n  countersign policy test policy.cases.yaml --policy policy.next',
    )
  policy
    .command('check')
    .description('read and validate them against what the servers offer; exit code 1 where one has an error')
    .action(act(check))
  policy
    .command('test')
    .argument('<file>', 'cases: who asks for what, and what is expected')
    .description(
      'ask the policies about calls that a file describes; exit code 3 where one answer is not the expected one',
    )
    .option('--policy <dir>', 'other policies than those of the configuration')
    .action(
      act(async (context, options: PolicyTestOptions, file) => {
        const { testPolicies } = await import('../policy-test.ts')
        return testPolicies(context, file!, options)
      }),
    )
  return policy
}

async function check(context: Context): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const [report, status] = await Promise.all([client.checkPolicy(), client.status()])
  if (io.json) io.outJson(report)
  else {
    for (const { severity, file, line, message } of report.problems) {
      const where = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}: `
      io.out(`${io.paint(severity === 'error' ? 'red' : 'yellow', severity)}: ${where}${plain(message)}`)
    }
    const older = runsOlderPolicy(status, report)
    const unusable = older
      ? 'not usable: from the next start on every call is refused'
      : 'not usable, so every call is refused'
    io.out(
      report.ok
        ? `${report.policies} policies, version ${report.version.slice(0, 12)}: fine.`
        : `The policies are ${unusable}.`,
    )
    if (older) io.out(`! ${olderPolicy.says}: ${report.ok ? olderPolicy.fix : `mend the folder, ${olderPolicy.fix}`}.`)
  }
  return report.ok ? exits.done : exits.fault
}
