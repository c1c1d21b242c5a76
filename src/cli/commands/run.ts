import type { Exposing } from '../../model/exposure.ts'
import type { Toolbox } from '../../model/toolbox.ts'
import type { RunEvent, RunLimits, RunReport } from '../../model/report.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { visible } from '../../flow/tool/visible.ts'
import { plain } from '../render/width.ts'

interface Options {
  readonly model: string
  readonly turns?: string
  readonly calls?: string
  readonly tokens?: string
  readonly stream: boolean
  readonly steps?: boolean
  readonly tools: string
}

export const declare: Declare = (program, act) =>
  program
    .command('run')
    .argument('<task>', 'what the model is to do')
    .description(
      'Give a task to a model, with the approved tools of this gateway. Each call that it proposes passes every gate.\n\n' +
        'Examples:\n' +
        '  countersign run "What do my notes say about MCP?" --model anthropic:NAME\n' +
        '  countersign run "…" --model compatible:NAME@http://127.0.0.1:11434/v1\n' +
        '  countersign run "…" --model scripted:turns.yaml',
    )
    .requiredOption(
      '--model <model>',
      'anthropic:NAME, openai:NAME, openai-chat:NAME, google:NAME, compatible:NAME@URL or scripted:FILE',
    )
    .option('--turns <n>', 'at most that many turns of the model')
    .option('--calls <n>', 'at most that many calls')
    .option('--tokens <n>', 'at most that many tokens, of input and output together')
    .option(
      '--tools <mode>',
      'all, search (three tools to find and call the others), auto by their size, deferred (Anthropic loads what a search finds), or code (two tools: read the functions, run a program)',
      'auto',
    )
    .option('--no-stream', 'ask for each turn in one piece')
    .option('--steps', 'print what every gate said of every call')
    .action(act((context, options: Options, task) => run(context, options, task!)))

async function run(context: Context, options: Options, task: string): Promise<Exit> {
  const { io, signal } = context
  const [{ parseModel }, { runTask }, { remoteFinder, remoteToolbox }, { exposed }, { askAlong }, { stepLines }] =
    await Promise.all([
      import('../../model/providers/spec.ts'),
      import('../../model/loop.ts'),
      import('../remote-toolbox.ts'),
      import('../../model/exposure.ts'),
      import('../ask.ts'),
      import('../render/steps.ts'),
    ])
  const model = parseModel(options.model, process.env, { streaming: options.stream })
  if (!isExposing(options.tools) && options.tools !== 'code')
    throw new UsageFault(`--tools ${options.tools}: expected all, search, auto, deferred or code`)
  if ('error' in model) throw new UsageFault(model.error)
  if (options.tools === 'deferred' && !model.profile.defersTools)
    throw new UsageFault('--tools deferred: this provider cannot load tools later; use search')
  const { client } = await context.attach()
  const ours = new Set<string>()
  const over = new AbortController()
  const { done } = await askAlong({
    client,
    io,
    wanted: ({ callId }) => callId !== undefined && ours.has(callId),
    signal: AbortSignal.any([signal, over.signal]),
  })
  const asked = done.catch(() => {})
  const remote = remoteToolbox(
    client,
    (callId) => ours.add(callId),
    ({ steps, kind }) => {
      if (options.steps === true || kind !== 'answered') for (const line of stepLines(steps, io)) io.note(`  ${line}`)
    },
  )
  const toolbox =
    options.tools === 'code' ? await programs(remote) : exposed(remote, remoteFinder(client), options.tools)
  try {
    const report = await runTask({ task, model, toolbox, signal, limits: limitsOf(options), observer: observerOf(io) })
    if (io.json) io.outJson(report)
    else tell(report, io)
    return exitOf(report)
  } finally {
    over.abort()
    await asked
  }
}

async function programs(toolbox: Toolbox): Promise<Toolbox> {
  const { codeToolbox, defaultCodeLimits, Journals, QuickJsExecutor } = await import('../../code/index.ts')
  return codeToolbox(toolbox, {
    executor: new QuickJsExecutor(),
    limits: defaultCodeLimits,
    journals: new Journals(),
    owner: 'run',
  })
}

function isExposing(mode: string): mode is Exposing {
  return ['all', 'search', 'auto', 'deferred'].includes(mode)
}

/** The model's words are data, on stdout; what it does is told on stderr. */
function observerOf(io: Io): (event: RunEvent) => void {
  if (io.json) return () => {}
  return (event) => {
    switch (event.kind) {
      case 'text':
        io.write(io.columns === Infinity ? event.text : visible(event.text))
        return
      case 'proposal':
        io.note(io.paint('dim', `\n→ ${event.exported} ${plain(event.argumentsText)}`))
        return
      case 'call':
        io.note(
          io.paint('dim', `  ${event.record.verdict}${event.record.code === undefined ? '' : ` ${event.record.code}`}`),
        )
        return
      case 'warning':
        io.note(`warning: ${plain(event.message)}`)
        return
      case 'retry':
        io.note(`The model is asked again (attempt ${event.attempt}): ${event.why}`)
        return
      case 'turn':
        if (event.turn > 1) io.out('')
        return
      case 'offers':
      case 'proposal-started':
      case 'argument-fragment':
      case 'stopped':
        return
      default:
        event satisfies never
    }
  }
}

function tell({ stop, why, turns, calls, usage, scripted, conversation }: RunReport, io: Io): void {
  io.out('')
  const tokens = `${usage.inputTokens + usage.outputTokens} tokens${usage.estimated ? ` (estimated by ${usage.method})` : ''}`
  const ended = stop === 'done' ? 'done' : `ended early (${stop}${why === undefined ? '' : `: ${why}`})`
  io.note(
    io.paint(
      'dim',
      `${ended}; ${turns} turns, ${calls.length} calls, ${tokens}${scripted ? ', a scripted model' : ''}; ${conversation}`,
    ),
  )
}

function exitOf({ stop, calls }: RunReport): Exit {
  if (stop === 'cancelled') return exits.interrupted
  if (calls.some(({ verdict }) => verdict === 'unknown')) return exits.unknown
  return stop === 'done' ? exits.done : exits.fault
}

function limitsOf({ turns, calls, tokens }: Options): Partial<RunLimits> {
  const given = { turns, calls, tokens }
  const limits: Partial<Record<keyof typeof given, number>> = {}
  for (const [name, text] of Object.entries(given) as [keyof typeof given, string | undefined][]) {
    if (text === undefined) continue
    if (!/^[1-9]\d{0,8}$/.test(text)) throw new UsageFault(`--${name} ${text}: expected a whole number above 0`)
    limits[name] = Number(text)
  }
  return limits
}
