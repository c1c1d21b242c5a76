import { argOption, argsOption, type ArgumentOptions, argumentsText, collect, targetOf } from '../arguments.ts'
import type { Context } from '../context.ts'
import { type Exit, exitOfRefusal, exits } from '../exits.ts'
import type { Declare } from '../program.ts'
import { stepLines } from '../render/steps.ts'

export const declare: Declare = (program, act) =>
  program
    .command('check')
    .argument('<target>', 'SERVER/TOOL by the server’s own names, or SERVER__TOOL')
    .description(
      'All verdicts that a call would get, and nothing sent, held or asked.\nExit code 0: it would pass; 4: a person would be asked; 3: it would be refused.\n\n' +
        'Examples:\n' +
        `  countersign check filesystem/write_file --args '{"path":"a.txt","content":""}'\n` +
        '  countersign check weather/get_weather --arg location=Lisbon --json',
    )
    .option(...argOption, collect)
    .option(...argsOption)
    .action(act((context, options: ArgumentOptions, target) => check(context, options, target!)))

async function check(context: Context, options: ArgumentOptions, target: string): Promise<Exit> {
  const { io, signal } = context
  const request = { target: targetOf(target), arguments: argumentsText(options), door: 'cli' } as const
  const { client } = await context.attach()
  const { steps } = await client.check(request, signal)
  if (io.json) io.outJson({ steps })
  else for (const line of stepLines(steps, io)) io.out(line)
  const refused = steps.find((step) => step.verdict === 'refuse')
  if (refused !== undefined) return exitOfRefusal({ code: refused.code ?? '' })
  return steps.some((step) => step.verdict === 'ask') ? exits.waiting : exits.done
}
