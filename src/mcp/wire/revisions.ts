/** The protocol revisions that a hop may speak. Nothing outside `mcp/` knows which one it was. */
export const legacyRevisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
export const modernRevisions = ['2026-07-28'] as const

export type LegacyRevision = (typeof legacyRevisions)[number]
export type ModernRevision = (typeof modernRevisions)[number]
export type Revision = LegacyRevision | ModernRevision
export type Era = 'legacy' | 'modern'

export function eraOf(revision: Revision): Era {
  return (modernRevisions as readonly string[]).includes(revision) ? 'modern' : 'legacy'
}
