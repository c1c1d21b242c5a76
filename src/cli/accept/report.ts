import { Tallying } from '../../flow/evidence/tally.ts'
import { ledgerLines } from '../../store/sqlite/lines.ts'
import type { Context } from '../context.ts'
import { judgeLive } from '../evidence/verify.ts'
import { type Exit, exits } from '../exits.ts'
import { type Dimension, dimensionsOf, type Seen, type Standing } from './dimensions.ts'

const marks: Readonly<Record<Standing, readonly ['green' | 'red' | 'dim', string]>> = {
  met: ['green', '✓'],
  'not-met': ['red', '✗'],
  reported: ['dim', '·'],
  nothing: ['dim', '–'],
}

/** Reads the whole ledger once, and asks the gateway what runs, where one does. */
export async function accept(context: Context): Promise<Exit> {
  const { io, signal } = context
  const judgement = await judgeLive(context)
  const tallying = new Tallying()
  for (const line of ledgerLines(context.home())) {
    signal.throwIfAborted()
    tallying.take(line)
  }
  const tally = tallying.finish()
  const live = await running(context)
  const dimensions = dimensionsOf({ tally, judgement, ...(live === undefined ? {} : { live }) })
  const accepted = dimensions.every(({ findings }) => findings.every(({ standing }) => standing !== 'not-met'))
  if (io.json) io.outJson({ accepted, dimensions, tally })
  else {
    for (const dimension of dimensions) for (const line of linesOf(dimension, context)) io.out(line)
    io.out(accepted ? io.paint('green', 'Accepted.') : io.paint('red', 'Not accepted: see what is marked with ✗.'))
  }
  return accepted ? exits.done : exits.refused
}

async function running(context: Context): Promise<Seen['live']> {
  const { ownerOf } = await import('../../gateway/ownership.ts')
  if (ownerOf(context.home()) === undefined) return undefined
  const { client } = await context.attach({ start: false })
  const [servers, tools] = await Promise.all([client.servers(), client.tools({ kind: 'tool' })])
  return { servers, tools }
}

function linesOf({ name, findings }: Dimension, { io }: Context): readonly string[] {
  return [
    io.paint('bold', name),
    ...findings.map(({ what, standing, says }) => {
      const [color, mark] = marks[standing]
      return `  ${io.paint(color, mark)} ${what}: ${says}`
    }),
  ]
}
