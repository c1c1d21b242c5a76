import type { Config } from '../../config/config.ts'
import { findBubblewrap } from '../../sandbox/bubblewrap.ts'
import { canaries, tryCanaries } from '../../sandbox/canaries.ts'
import { fail, type Finding, ok, warn } from './finding.ts'

/** Is there a sandbox, and does it hold? Proved by a program that tries to get out. */
export async function examineSandbox({ servers }: Config): Promise<Finding[]> {
  const programs = servers.filter(({ spec }) => spec.reach.kind === 'stdio')
  const bare = programs.filter(({ sandbox }) => sandbox === 'none').map(({ spec }) => spec.name)
  const findings: Finding[] =
    bare.length === 0
      ? []
      : [warn('sandbox', `not confined, as the configuration says: ${bare.join(', ')}`, 'Leave `sandbox: none` away.')]
  if (programs.length === bare.length) return findings
  const found = await findBubblewrap()
  if ('missing' in found) {
    const needed = programs.filter(({ sandbox }) => sandbox === 'require').map(({ spec }) => spec.name)
    const says = needed.length === 0 ? 'servers run without one' : `these servers are not started: ${needed.join(', ')}`
    const finding = needed.length === 0 ? warn : fail
    return [
      ...findings,
      finding('sandbox', `${found.missing}; ${says}`, 'Install bubblewrap, or declare `sandbox: none`.'),
    ]
  }
  const escaped = await tryCanaries(found.path)
  const out = canaries.filter((one) => escaped[one])
  return [
    ...findings,
    out.length === 0
      ? ok('sandbox', `${found.path}: ${canaries.length} of ${canaries.length} canaries held (${canaries.join(', ')})`)
      : fail(
          'sandbox',
          `${found.path} lets out: ${out.join(', ')}`,
          'Do not run servers that you do not trust on this machine.',
        ),
  ]
}
