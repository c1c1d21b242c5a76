export type ListKind = 'tools' | 'prompts' | 'resources'

export const listKinds: readonly ListKind[] = ['tools', 'prompts', 'resources']

/** How often one list may be called changed: a server that says so all the time must not keep us reading it. */
const APART_MS = 100

/** Tells listeners that lists have changed: the first time at once, then at most once per interval, and never not at all. */
export class Changes {
  readonly #listeners = new Set<(kind: ListKind) => void>()
  readonly #resting = new Map<ListKind, NodeJS.Timeout>()
  readonly #again = new Set<ListKind>()

  listen(listener: (kind: ListKind) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  changed(kind: ListKind): void {
    if (this.#resting.has(kind)) {
      this.#again.add(kind)
      return
    }
    this.#resting.set(kind, setTimeout(() => this.#rested(kind), APART_MS).unref())
    for (const listener of this.#listeners) listener(kind)
  }

  stop(): void {
    for (const timer of this.#resting.values()) clearTimeout(timer)
    this.#listeners.clear()
  }

  #rested(kind: ListKind): void {
    this.#resting.delete(kind)
    if (this.#again.delete(kind)) this.changed(kind)
  }
}
