import type { Difference } from '../../flow/tool/selected.ts'
import type { Digest } from '../../words/digest.ts'
import type { Row } from './rows.ts'

/** A difference as it goes on the record. */
export interface RecordedDifference {
  readonly at: string
  readonly approved: string | null
  readonly live: string | null
}

/** What happens to approvals; a composition root puts each on the evidence record. Times in milliseconds since 1970. */
export type CatalogueEvent =
  | {
      readonly kind: 'tool.approved'
      readonly key: string
      readonly pin: Digest
      readonly by: string
      readonly at: number
    }
  | {
      readonly kind: 'tool.quarantined'
      readonly key: string
      readonly pin: Digest
      readonly by: string
      readonly at: number
      readonly why: string
    }
  /** A live definition is not the approved one any more; `live` is null where the server does not offer it now. */
  | {
      readonly kind: 'tool.drift'
      readonly key: string
      readonly approved: Digest
      readonly live: Digest | null
      readonly differences: readonly RecordedDifference[]
    }
  | {
      readonly kind: 'server.approved'
      readonly server: string
      readonly identity: Digest
      readonly by: string
      readonly at: number
    }
  | { readonly kind: 'server.drift'; readonly server: string; readonly differences: readonly RecordedDifference[] }

function recorded(differences: readonly Difference[]): readonly RecordedDifference[] {
  return differences.map(({ at, approved, live }) => ({ at, approved: approved ?? null, live: live ?? null }))
}

/** Tells each drift once, and again when it ended in between. */
export class DriftWatch {
  readonly #told = new Map<string, string>()
  readonly #onEvent: (event: CatalogueEvent) => void

  constructor(onEvent: (event: CatalogueEvent) => void) {
    this.#onEvent = onEvent
  }

  look(server: string, rows: ReadonlyMap<string, Row>): void {
    const changed = [...rows.values()].find(({ standing }) => standing === 'server-changed')
    if (this.#isNew(server, changed && JSON.stringify(changed.differences))) {
      this.#onEvent({ kind: 'server.drift', server, differences: recorded(changed!.differences) })
    }
    for (const { about, standing, entry, livePin, differences } of rows.values()) {
      const drifted = standing === 'changed' || standing === 'gone' || (standing === 'pending' && entry !== undefined)
      if (!this.#isNew(about.key, drifted ? `${entry!.pin}${livePin}` : undefined)) continue
      const live = livePin ?? null
      this.#onEvent({
        kind: 'tool.drift',
        key: about.key,
        approved: entry!.pin,
        live,
        differences: recorded(differences),
      })
    }
  }

  #isNew(what: string, state: string | undefined): boolean {
    const before = this.#told.get(what)
    if (state === undefined) this.#told.delete(what)
    else this.#told.set(what, state)
    return state !== undefined && state !== before
  }
}
