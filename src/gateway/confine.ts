import type { ServerConfig } from '../config/config.ts'
import type { UpstreamSpec } from '../mcp/upstream/upstream.ts'
import { findBubblewrap } from '../sandbox/bubblewrap.ts'
import type { Confined } from '../sandbox/confinement.ts'
import { startableOf } from '../sandbox/start.ts'

/** How a server is started here: its specification with what confines it, and why it is not confined where it should be. */
export interface Started {
  readonly spec: UpstreamSpec
  readonly confined: Confined
  readonly why?: string
}

/** Puts every program that is to be confined into its sandbox. Looks for bubblewrap only where somebody wants it. */
export async function confineServers(
  servers: readonly ServerConfig[],
  home: string,
): Promise<ReadonlyMap<string, Started>> {
  const wanted = servers.some(({ confinement, spec }) => confinement !== undefined && spec.reach.kind === 'stdio')
  const bubblewrap = wanted ? await findBubblewrap() : { missing: 'nobody asked for it' }
  return new Map(
    servers.map(({ spec, confinement }): [string, Started] => {
      const { reach } = spec
      if (reach.kind !== 'stdio') return [spec.name, { spec, confined: 'none' }]
      const found = startableOf(reach, confinement && { ...confinement, hidden: [home] }, bubblewrap)
      if (found.kind === 'refuse') {
        const refused = { ...reach, refused: found.why }
        return [spec.name, { spec: { ...spec, reach: refused }, confined: 'none', why: found.why }]
      }
      const started = { ...spec, reach: found.program }
      return [
        spec.name,
        { spec: started, confined: found.confined, ...(found.why === undefined ? {} : { why: found.why }) },
      ]
    }),
  )
}
