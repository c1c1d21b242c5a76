import { randomUUID } from 'node:crypto'
import { ControlFault } from '../../gateway/control/fault.ts'
import { argOption, argsOption, type ArgumentOptions, argumentsText, collect, targetOf } from '../arguments.ts'
import type { Context } from '../context.ts'
import { type Exit, exitOfReport } from '../exits.ts'
import type { Declare } from '../program.ts'

interface Options extends ArgumentOptions {
  readonly key?: string
  readonly steps?: boolean
}

export const declare: Declare = (program, act) =>
  program
    .command('call')
    .argument('<target>', 'SERVER/TOOL by the server’s own names, or SERVER__TOOL')
    .description(
      'Make one governed call. It passes every gate, runs at most once, and is on the record.\n\n' +
        'Examples:\n' +
        '  countersign call weather/get_weather --arg location=Lisbon\n' +
        '  countersign call learning-notes/search_notes --arg query=mcp --arg max_results:=5\n' +
        `  countersign call filesystem/read_text_file --args '{"path":"note.txt"}' --json`,
    )
    .option(...argOption, collect)
    .option(...argsOption)
    .option('--key <key>', 'idempotency key: 16 to 255 characters of A–Z a–z 0–9 . _ : -')
    .option('--steps', 'print what every gate said, also when the call passed')
    .action(act((context, options: Options, target) => call(context, options, target!)))

async function call(context: Context, options: Options, target: string): Promise<Exit> {
  const { io, signal } = context
  const request = {
    target: targetOf(target),
    arguments: argumentsText(options),
    door: 'cli',
    callId: randomUUID(),
    ...(options.key === undefined ? {} : { requestKey: options.key }),
  } as const
  const [{ client }, { askAlong }, { sameCall }] = await Promise.all([
    context.attach(),
    import('../ask.ts'),
    import('../same-call.ts'),
  ])
  const over = new AbortController()
  const { done } = await askAlong({
    client,
    io,
    wanted: sameCall(request),
    signal: AbortSignal.any([signal, over.signal]),
  })
  // That questions can no longer be shown is no reason to give up the call.
  const asked = done.catch(() => {})
  try {
    const { report, text } = await client.call(request, signal)
    if (io.json) io.write(`${text}\n`)
    else {
      const { printReport } = await import('../render/report.ts')
      printReport(report, io, options.steps === true)
    }
    return exitOfReport(report)
  } catch (fault) {
    if (signal.aborted) io.err('Interrupted. If it had been sent, it still runs: see `countersign operation list`.')
    if (fault instanceof ControlFault && fault.code === 'GATEWAY_LOST')
      throw new ControlFault(
        fault.code,
        fault.message,
        'See what became of it with `countersign operation list`. A read that is not listed there had no effect.',
        fault,
      )
    throw fault
  } finally {
    over.abort()
    await asked
  }
}
