import type { Declare } from '../program.ts'

export const declare: Declare = (program, act) =>
  program
    .command('accept')
    .description(
      'The acceptance report, made of what is on record and of what runs now, in six dimensions:\n' +
        'interoperation, discovery, execution, security, cost, evidence. Starts nothing.\n' +
        'Exit code 3 where something that must not be is: a call past a gate, one sent twice, evidence that does not hold.\n\n' +
        'Examples:\n  countersign accept\n  countersign accept --json',
    )
    .action(
      act(async (context) => {
        const { accept } = await import('../accept/report.ts')
        return accept(context)
      }),
    )
