import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Replayed } from '../../flow/evidence/index.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import { moment } from '../render/moment.ts'
import { tableLines } from '../render/table.ts'
import { momentOf } from './moment.ts'

export interface ReplayOptions {
  readonly policy?: string
  readonly since?: string
}

/** Judges what is on record again under other policies. Contacts nothing: it reads the ledger's file, and starts no gateway. */
export async function replay(context: Context, { policy, since }: ReplayOptions): Promise<Exit> {
  const { io, signal } = context
  if (policy === undefined || !existsSync(policy))
    throw new UsageFault('a folder of policies is missing', 'Name one with --policy DIR.')
  const [{ Replay }, { ChainReader }, { readPolicies }, { ledgerLines }] = await Promise.all([
    import('../../flow/evidence/replay.ts'),
    import('../../flow/evidence/index.ts'),
    import('../../gateway/policies.ts'),
    import('../../store/sqlite/lines.ts'),
  ])
  const replaying = new Replay(
    readPolicies(resolve(policy)),
    since === undefined ? undefined : momentOf('--since', since),
  )
  const chain = new ChainReader()
  for (const line of ledgerLines(context.home())) {
    signal.throwIfAborted()
    const wrong = chain.read(line)
    if (wrong !== undefined) {
      if (io.json) io.outJson({ verdict: 'tampered', why: [wrong] })
      else io.out(`${io.paint('red', 'tampered')}: ${wrong}. Run \`countersign evidence verify\`.`)
      return exits.tampered
    }
    replaying.take(line)
  }
  const replayed = replaying.finish()
  if (io.json) io.outJson(replayed)
  else for (const line of linesOf(replayed, context)) io.out(line)
  return exits.done
}

function linesOf({ policy, judged, changes, unjudged }: Replayed, { io }: Context): readonly string[] {
  const rows = changes.map(({ seq, at, principal, tool, was, now, because, scope }) => [
    String(seq),
    moment(at),
    principal,
    tool,
    `${was} → ${now}`,
    [scope ?? '', because.join(', ')].filter(Boolean).join(' by '),
  ])
  const table = rows.length === 0 ? [] : tableLines(['RECORD', 'AT', 'FOR', 'TOOL', 'DECISION', 'BECAUSE'], rows, io)
  const left = unjudged.length === 0 ? '' : `, ${unjudged.length} could not be judged (${unjudged[0]!.why})`
  return [...table, `policy ${policy.slice(0, 12)}: ${judged} judged again, ${changes.length} would change${left}`]
}
