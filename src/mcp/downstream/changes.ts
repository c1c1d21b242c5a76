import type { Shelf } from '../catalogue/shelf.ts'

export type Changed = 'tools' | 'prompts' | 'resources'
type Listener = (what: ReadonlySet<Changed>) => void

export const changeMethods: Readonly<Record<Changed, string>> = Object.freeze({
  tools: 'notifications/tools/list_changed',
  prompts: 'notifications/prompts/list_changed',
  resources: 'notifications/resources/list_changed',
})

/** Tells many listeners of changed lists, once for all changes that come within a short time. */
export class Changes {
  readonly #listeners = new Set<Listener>()
  readonly #leave: () => void
  readonly #withinMs: number
  #pending = new Set<Changed>()
  #timer: NodeJS.Timeout | undefined

  constructor(shelf: Shelf, withinMs: number) {
    this.#withinMs = withinMs
    this.#leave = shelf.onChanged((what) => {
      this.#pending.add(what)
      this.#timer ??= setTimeout(() => this.#tell(), this.#withinMs).unref()
    })
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  close(): void {
    this.#leave()
    clearTimeout(this.#timer)
    this.#listeners.clear()
  }

  #tell(): void {
    const what = this.#pending
    this.#pending = new Set()
    this.#timer = undefined
    for (const listener of this.#listeners) listener(what)
  }
}
