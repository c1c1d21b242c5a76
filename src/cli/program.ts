import { Command, CommanderError } from 'commander'
import { type Context, contextOf, type GlobalOptions } from './context.ts'
import { exits, type Exit } from './exits.ts'
import { tellFault, UsageFault, withName } from './fault.ts'
import { type Io, systemIo } from './io.ts'
import { version } from '../gateway/version.ts'

/**
 * Wraps what a command does: it is given the context, its own options and its operands, and answers how it ended. A fault
 * that it throws is told and ends the command.
 */
export type Act = (
  does: (context: Context, options: never, ...operands: string[]) => Promise<Exit>,
) => (...given: unknown[]) => Promise<void>

/** Adds one command with its options to the program. What it does is imported when it is done. */
export type Declare = (program: Command, act: Act) => Command

interface Entry {
  readonly group: string
  readonly summary: string
  readonly declare: () => Promise<{ readonly declare: Declare }>
}

const running = 'The gateway:'
const using = 'Calls:'
const looking = 'Servers, tools and rules:'
const deciding = 'Approvals, operations and evidence:'

/** Every command. Help and completion need the summaries only, so that nothing is loaded for them. */
export const commands: Readonly<Record<string, Entry>> = {
  init: {
    group: running,
    summary: 'make a configuration, a policy and a home here',
    declare: () => import('./commands/init.ts'),
  },
  up: { group: running, summary: 'start the gateway and stay', declare: () => import('./commands/up.ts') },
  stop: { group: running, summary: 'end the gateway that runs', declare: () => import('./commands/stop.ts') },
  stdio: {
    group: running,
    summary: 'be an MCP server on stdin and stdout',
    declare: () => import('./commands/stdio.ts'),
  },
  status: {
    group: running,
    summary: 'what runs, and what waits for you',
    declare: () => import('./commands/status.ts'),
  },
  doctor: {
    group: running,
    summary: 'look for what is wrong, and say how to mend it',
    declare: () => import('./commands/doctor.ts'),
  },
  connect: {
    group: running,
    summary: 'put us in front of the servers of a client',
    declare: () => import('./commands/connect.ts'),
  },
  disconnect: {
    group: running,
    summary: 'undo `connect`, byte for byte',
    declare: () => import('./commands/disconnect.ts'),
  },
  logs: {
    group: running,
    summary: 'what the gateway in the background wrote',
    declare: () => import('./commands/logs.ts'),
  },
  completion: {
    group: running,
    summary: 'the completion script of a shell',
    declare: () => import('./commands/completion.ts'),
  },
  version: { group: running, summary: 'print the version', declare: () => import('./commands/version.ts') },
  call: { group: using, summary: 'make one governed call', declare: () => import('./commands/call.ts') },
  check: {
    group: using,
    summary: 'all verdicts on a call, and nothing sent',
    declare: () => import('./commands/check.ts'),
  },
  run: {
    group: using,
    summary: 'give a task to a model, with these tools',
    declare: () => import('./commands/run.ts'),
  },
  server: { group: looking, summary: 'upstream MCP servers', declare: () => import('./commands/server.ts') },
  tool: {
    group: looking,
    summary: 'tools, their approved definitions, and what changed',
    declare: () => import('./commands/tool.ts'),
  },
  policy: { group: looking, summary: 'check the policies', declare: () => import('./commands/policy.ts') },
  config: {
    group: looking,
    summary: 'show or validate the configuration',
    declare: () => import('./commands/config.ts'),
  },
  budget: {
    group: looking,
    summary: 'what was spent, and what is left',
    declare: () => import('./commands/budget.ts'),
  },
  approval: {
    group: deciding,
    summary: 'questions that wait for a person',
    declare: () => import('./commands/approval.ts'),
  },
  operation: {
    group: deciding,
    summary: 'what was done, and what nobody knows yet',
    declare: () => import('./commands/operation.ts'),
  },
  eval: {
    group: looking,
    summary: 'measure search and the like on your own data',
    declare: () => import('./commands/eval.ts'),
  },
  accept: {
    group: deciding,
    summary: 'the acceptance report, in six dimensions',
    declare: () => import('./commands/accept.ts'),
  },
  evidence: {
    group: deciding,
    summary: 'the record: show, export, verify',
    declare: () => import('./commands/evidence.ts'),
  },
}

/** Runs one command. Never throws; the answer is the exit code. */
export async function main(given: readonly string[], signal: AbortSignal): Promise<Exit> {
  const args = helpAsOption(given)
  let exit: Exit = exits.done
  const program = new Command('countersign')
  const globals = () => program.opts<GlobalOptions>()
  const ioOf = (options: GlobalOptions): Io =>
    systemIo({
      json: options.json === true || process.env['COUNTERSIGN_OUTPUT'] === 'json',
      quiet: options.quiet === true,
      color: options.color,
    })

  const act: Act =
    (does) =>
    async (...passed) => {
      const command = passed.at(-1) as Command
      const io = ioOf(globals())
      try {
        exit = await does(contextOf(globals(), io, signal), command.opts() as never, ...command.args)
      } catch (fault) {
        exit = signal.aborted
          ? exits.interrupted
          : tellFault(withName(fault, command.parent?.name() ?? '', command.args), io)
      }
    }

  declareGlobals(program)
  const named = firstOperand(args)
  for (const [name, { group, summary, declare }] of Object.entries(commands)) {
    const command =
      name === named ? (await declare()).declare(program, act) : program.command(name).description(summary)
    command.summary(summary).helpGroup(group).helpCommand(false)
  }
  try {
    await program.parseAsync(args, { from: 'user' })
    return exit
  } catch (fault) {
    if (!(fault instanceof CommanderError)) return tellFault(fault, ioOf(globals()))
    // Help and version that were asked for end this way too.
    if (fault.exitCode === 0) return exits.done
    if (fault.code === 'commander.help') return exits.usage
    const message = fault.message.replace(/^error: /, '').replaceAll('\n', ' ')
    return tellFault(new UsageFault(message, `See \`${nearestHelp(program, args)}\`.`), ioOf(globals()))
  }
}

function declareGlobals(program: Command): void {
  program
    .description(
      'The control plane between a model and its MCP tools: every proposal passes seven gates,\n' +
        'runs at most once, and leaves evidence.\n\n' +
        'Examples:\n' +
        '  countersign init                                       start in this folder\n' +
        '  countersign call weather/get_weather --arg location=Lisbon\n' +
        '  countersign approval watch                             answer what waits for you',
    )
    .version(version, '-V, --version', 'print the version')
    .option('--config <file>', 'configuration file (default: countersign.yaml here, or $COUNTERSIGN_CONFIG)')
    .option(
      '--home <dir>',
      'home of the gateway (default: .countersign beside the configuration, or $COUNTERSIGN_HOME)',
    )
    .option('--json', 'print data as JSON on stdout, and faults as JSON on stderr')
    .option('--quiet', 'print nothing but data and faults')
    .option('--no-color', 'print without colours ($NO_COLOR does the same)')
    .helpCommand(false)
    .configureHelp({ showGlobalOptions: true, sortSubcommands: false, helpWidth: 110 })
    // A usage fault is told like every other fault, by `tellFault`.
    .configureOutput({ outputError: () => {} })
    .showSuggestionAfterError(true)
    .exitOverride()
}

/** `help call` is `call --help`. Left as it is where `help` names nothing that there is, which is a usage fault. */
function helpAsOption(args: readonly string[]): readonly string[] {
  const at = operands(args)
  if (args[at[0] ?? -1] !== 'help') return args
  const rest = args.filter((_, n) => n !== at[0])
  const asked = args[at[1] ?? -1]
  return asked === undefined || Object.hasOwn(commands, asked) ? [...rest, '--help'] : rest
}

/** The help of the command as far as its words were understood. */
function nearestHelp(program: Command, args: readonly string[]): string {
  let [command, words] = [program, program.name()]
  for (const at of operands(args)) {
    const next = command.commands.find((it) => it.name() === args[at])
    if (next === undefined) break
    command = next
    words += ` ${next.name()}`
  }
  return `${words} --help`
}

/** The name of the command: the first argument that is neither a global option nor the value of one. */
function firstOperand(args: readonly string[]): string | undefined {
  return args[operands(args)[0] ?? -1]
}

/** Where in the arguments those stand that are neither a global option nor the value of one. */
function operands(args: readonly string[]): number[] {
  const at: number[] = []
  for (let n = 0; n < args.length; n++) {
    const arg = args[n]!
    if (arg === '--config' || arg === '--home') n++
    else if (!arg.startsWith('-')) at.push(n)
  }
  return at
}
