import { existsSync } from 'node:fs'
import type { Finding } from '../doctor/finding.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { padEnd, plain, widthOf } from '../render/width.ts'

const marks = { ok: ['green', '✓'], warn: ['yellow', '!'], fail: ['red', '✗'] } as const

export const declare: Declare = (program, act) =>
  program
    .command('doctor')
    .description(
      'Look at everything that has to be right, and say how to mend what is not.\nStarts no server. Exit code 1 where something fails.',
    )
    .action(act(doctor))

async function doctor(context: Context): Promise<Exit> {
  const { io } = context
  const [{ examineConfig, examineHome, examineNode }, { examineDisk }, { examineRunning }] = await Promise.all([
    import('../doctor/place.ts'),
    import('../doctor/disk.ts'),
    import('../doctor/running.ts'),
  ])
  const folder = context.home()
  const place = [
    examineNode(),
    ...(await examineConfig(context)),
    ...(await examineConfined(context)),
    ...examineHome(folder),
  ]
  const findings =
    existsSync(folder) && !place.some((it) => it.what === 'home' && it.result === 'fail')
      ? [...place, ...examineDisk(folder), ...(await examineRunning(context))]
      : place
  if (io.json) io.outJson({ findings })
  else for (const line of findingLines(findings, io)) io.out(line)
  return findings.some(({ result }) => result === 'fail') ? exits.fault : exits.done
}

/** Where the configuration cannot be read, that is said already. */
async function examineConfined(context: Context): Promise<Finding[]> {
  const { examineSandbox } = await import('../doctor/sandbox.ts')
  try {
    return await examineSandbox(await context.config())
  } catch {
    return []
  }
}

function findingLines(findings: readonly Finding[], io: Pick<Io, 'paint'>): string[] {
  const widest = Math.max(...findings.map(({ what }) => widthOf(what)))
  return findings.flatMap(({ what, result, says, fix }) => {
    const [color, mark] = marks[result]
    const line = `${io.paint(color, mark)} ${padEnd(what, widest)}  ${plain(says)}`
    return fix === undefined ? [line] : [line, io.paint('dim', `  ${' '.repeat(widest)}  → ${plain(fix)}`)]
  })
}
