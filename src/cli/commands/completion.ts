import { Command } from 'commander'
import type { Context } from '../context.ts'
import { completionScript, shells, suggestions } from '../complete.ts'
import { type Exit, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import { commands, type Declare } from '../program.ts'

export const declare: Declare = (program, act) =>
  program
    .command('completion')
    .argument('<shell>', 'bash, zsh or fish')
    .argument('[words...]', 'what was typed so far; the shell asks with it')
    .description(
      'Print the completion script of a shell.\n\n' +
        'Examples:\n' +
        '  source <(countersign completion bash)\n' +
        '  countersign completion fish > ~/.config/fish/completions/countersign.fish',
    )
    .action(act((context, _options, shell, ...words) => completion(context, shell!, words)))

async function completion(context: Context, shell: string, words: readonly string[]): Promise<Exit> {
  const { io } = context
  if (shell === 'suggest') {
    for (const { word, says } of await suggestions(await tree(), words, context))
      io.out(says === '' ? word : `${word}\t${says}`)
    return exits.done
  }
  const known = shells.find((it) => it === shell)
  if (known === undefined)
    throw new UsageFault(`there is no completion for \`${shell}\``, `Known: ${shells.join(', ')}.`)
  io.write(completionScript(known))
  return exits.done
}

/** All commands, declared for their names and options; none of them does anything. */
async function tree(): Promise<Command> {
  const program = new Command('countersign')
    .option('--config <file>', 'configuration file')
    .option('--home <dir>', 'home of the gateway')
    .option('--json', 'print data as JSON')
    .option('--quiet', 'print nothing but data and faults')
    .option('--no-color', 'print without colours')
  for (const [name, { declare: load, summary }] of Object.entries(commands))
    if (name === 'completion') program.command(name).summary(summary)
    else (await load()).declare(program, () => async () => {}).summary(summary)
  return program
}
