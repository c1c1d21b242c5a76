import type { ToolRef } from '../api/contract.ts'
import { SUSPECT } from '../flow/result/wording/index.ts'
import { visible } from '../flow/tool/visible.ts'
import type { Finding } from '../mcp/catalogue/scan/finding.ts'
import { scanDefinition } from '../mcp/catalogue/scan/scan.ts'
import type { Context } from './context.ts'
import { type Exit, exits } from './exits.ts'

export interface ScanOptions {
  readonly server?: string
}

export interface Scanned {
  readonly tool: string
  readonly findings: readonly Finding[]
}

/** Remarks that count for less than this are not shown. */
const SHOWN = 0.6

/** Scans the definitions as the servers offer them now, each beside the tools of the other servers. */
export async function scanTools(context: Context, one: ToolRef | undefined, { server }: ScanOptions): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const all = await client.tools({})
  const wanted = all.filter((it) =>
    one === undefined
      ? server === undefined || it.server === server
      : it.server === one.server && it.name === one.name && it.kind === one.kind,
  )
  if (one !== undefined && wanted.length === 0) await client.tool(one)
  const scanned: Scanned[] = []
  for (const { kind, server, name, key } of wanted) {
    const tool = await client.tool({ kind, server, name })
    const definition = tool.live ?? tool.approved
    if (definition === undefined) continue
    const peers = all
      .filter((it) => it.kind === kind && it.server !== server)
      .map((it) => ({ server: it.server, name: it.name, ...(it.description && { description: it.description }) }))
    scanned.push({ tool: key, findings: scanDefinition(definition, peers).filter(({ score }) => score >= SHOWN) })
  }
  const suspect = scanned.filter(({ findings }) => findings.some(({ score }) => score >= SUSPECT))
  if (io.json) io.outJson({ scanned: scanned.length, suspect: suspect.length, tools: scanned })
  else {
    for (const { tool, findings } of scanned) {
      for (const { score, at, why, text } of findings) {
        const weight = score >= SUSPECT ? io.paint('red', 'suspect') : 'remark'
        io.out(`${tool} ${at}: ${weight}: ${why}`)
        io.out(`    ${visible(text).replaceAll('\n', ' ').slice(0, 160)}`)
      }
    }
    io.out(`${scanned.length} definitions scanned, ${suspect.length} suspect. Not suspect is not the same as harmless.`)
  }
  return suspect.length === 0 ? exits.done : exits.refused
}
