import type { Principal } from '../../flow/principal/principal.ts'

export type ShelfList = 'tools' | 'prompts' | 'resources' | 'resourceTemplates'

/**
 * What a principal is shown. Every list is deterministic in order and bytes, holds approved and visible definitions only,
 * and is kept ready: the same buffer is handed out until the catalogue, the policy or the principal's class changes.
 */
export interface Shelf {
  /** JSON text of the array, e.g. `[{"name":"weather__get_weather",…}]`. */
  list(principal: Principal, what: ShelfList): Buffer
  /** Text for `instructions` of initialize and server/discover: the approved instructions of the visible servers. */
  instructions(principal: Principal): string
  onChanged(listener: (what: 'tools' | 'prompts' | 'resources') => void): () => void
}
