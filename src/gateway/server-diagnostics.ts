import type { ServerDetail } from '../api/contract.ts'
import { maskText } from '../flow/result/secrets.ts'
import { visible } from '../flow/tool/visible.ts'
import type { CatalogueServer } from '../mcp/catalogue/entries.ts'
import type { Core } from './assemble.ts'

type Connected = Pick<Core, 'upstreams' | 'apart' | 'known'>

const LINES = 20
const LENGTH = 240

/** What `server show` says of a server beside what it declares: how fresh its lists are, and what came that was no answer. */
export function diagnosticsOf(
  name: string,
  { lists }: Pick<CatalogueServer, 'lists'>,
  core: Connected,
): Pick<ServerDetail, 'lists' | 'connections' | 'strays' | 'leftOut' | 'errorOutput'> {
  const now = Date.now()
  const diagnostics = core.upstreams.get(name)?.diagnostics()
  return {
    lists: lists.map(({ list, items, readMs, nextMs, ttlMs, why }) => ({
      list,
      ...(items === undefined ? {} : { items }),
      ...(readMs === undefined ? {} : { readAt: now + readMs }),
      ...(nextMs === undefined ? {} : { nextAt: now + nextMs }),
      ...(ttlMs === undefined ? {} : { ttlMs }),
      ...(why === undefined ? {} : { why: shown(why) }),
    })),
    connections: core.apart.get(name)?.figures ?? { shared: true, open: 0, most: 0 },
    strays: diagnostics?.strays ?? { noise: 0, answers: 0, oversize: 0 },
    leftOut: (diagnostics?.leftOut ?? []).slice(0, LINES).map((it) => ({ name: shown(it.name), why: shown(it.why) })),
    errorOutput: errorLines(name, core),
  }
}

/** The last lines of its standard error, as they may be shown: a server may print there what it was given to keep. */
export function errorLines(name: string, core: Connected): string[] {
  const upstream = core.upstreams.get(name)
  const output = upstream?.diagnostics().errorOutput ?? ''
  if (output.trim() === '') return []
  let text = core.known.scrub(output)
  for (const secret of upstream!.secrets) text = text.replaceAll(secret.reveal(), '[secret]')
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  return lines.slice(-LINES).map((line) => shown(maskText(line.slice(0, LENGTH * 4)).text))
}

function shown(text: string): string {
  const cut = text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text
  return visible(cut.toWellFormed())
}
