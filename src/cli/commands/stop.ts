import { setTimeout as pause } from 'node:timers/promises'
import { ControlFault } from '../../gateway/control/fault.ts'
import { markOf, ownerOf, type ProcessMark } from '../../gateway/ownership.ts'
import type { Context } from '../context.ts'
import { exits } from '../exits.ts'
import type { Declare } from '../program.ts'

const deadlineMs = 30_000

export const declare: Declare = (program, act) =>
  program
    .command('stop')
    .description('End the gateway of this home, and wait until it has ended.\nWhat is under way is recorded first.')
    .action(
      act(async (context) => {
        const owner = ownerOf(context.home())
        if (owner === undefined) {
          tell(context, false)
          return exits.done
        }
        await ask(context, owner)
        await untilGone(owner, context.signal)
        tell(context, true)
        return exits.done
      }),
    )

function tell({ io }: Context, stopped: boolean): void {
  if (io.json) io.outJson({ stopped })
  else io.out(stopped ? 'The gateway has ended.' : 'No gateway runs here.')
}

async function ask(context: Context, owner: ProcessMark): Promise<void> {
  try {
    const { client } = await context.attach({ start: false })
    await client.stop()
  } catch (fault) {
    // It may be of another version, or too busy to answer; the operating system can still ask it.
    if (!(fault instanceof ControlFault)) throw fault
    process.kill(owner.pid, 'SIGTERM')
  }
}

async function untilGone(owner: ProcessMark, signal: AbortSignal): Promise<void> {
  const deadline = performance.now() + deadlineMs
  while (markOf(owner.pid)?.started === owner.started) {
    if (performance.now() > deadline)
      throw new ControlFault(
        'GATEWAY_SILENT',
        `process ${owner.pid} has not ended within ${deadlineMs / 1000} s`,
        `Look at its log, or end it with \`kill -9 ${owner.pid}\`.`,
      )
    await pause(50, undefined, { signal })
  }
}
