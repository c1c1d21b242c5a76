import type { Principal } from '../../flow/principal/principal.ts'
import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import type { ApprovedTool, Visibility } from '../../flow/tool/selected.ts'
import { isJsonObject, member } from '../../words/json.ts'
import type { Lent } from '../upstream/seat.ts'
import type { LiveCatalogue } from './catalogue.ts'
import type { Completing, Sources } from './sources.ts'

const NO_VALUES: WireOutcome = {
  kind: 'reply',
  value: { completion: { values: [] } },
  bytes: Buffer.from('{"completion":{"values":[]}}'),
}

/** The connection that a principal has to a server; undefined where there is none, or no room for one. */
export type Connections = (server: string, principal: Principal) => Promise<Lent | undefined>

/** Asks the servers that the approved catalogue names, for what the policies let the principal see. */
export class LiveSources implements Sources {
  readonly #catalogue: LiveCatalogue
  readonly #connections: Connections
  readonly #visibility: Visibility

  constructor(catalogue: LiveCatalogue, connections: Connections, visibility: Visibility) {
    this.#catalogue = catalogue
    this.#connections = connections
    this.#visibility = visibility
  }

  async complete(principal: Principal, asked: Completing, signal: AbortSignal): Promise<WireOutcome | undefined> {
    const { ref, argument, context } = asked
    const tool = ref.type === 'ref/prompt' ? this.#prompt(ref.name) : this.#template(ref.uri)
    if (tool === undefined || !this.#visibility.sees(principal, tool)) return undefined
    const lent = await this.#connections(tool.server, principal)
    if (lent === undefined) return { kind: 'not-sent', why: 'there is no connection for this principal just now' }
    try {
      const { upstream } = lent
      const { state } = upstream
      if (state.kind !== 'ready') return { kind: 'not-sent', why: `the server is ${state.kind}` }
      // It was not negotiated; that a server has nothing to propose is no error of the client's.
      if (!isJsonObject(member(state.negotiated.capabilities, 'completions'))) return NO_VALUES
      const named = ref.type === 'ref/prompt' ? { type: ref.type, name: tool.name } : ref
      const params = { ref: named, argument, ...(context !== undefined && { context }) }
      return await upstream.request('completion/complete', params, signal)
    } finally {
      lent.done()
    }
  }

  async watch(principal: Principal, uri: string, listener: (uri: string) => void): Promise<(() => void) | undefined> {
    const tool = this.#readable(principal, uri)
    const lent = tool && (await this.#connections(tool.server, principal))
    if (tool === undefined || lent === undefined) return undefined
    // What may not be read any more is not talked of any more, and neither is what lies below it and may not be.
    const end = await lent.upstream.watchResource(uri, (changed) => {
      if (this.#readable(principal, changed)?.server === tool.server) listener(changed)
    })
    if (end === undefined) {
      lent.done()
      return undefined
    }
    return () => {
      end()
      lent.done()
    }
  }

  #prompt(exported: string): ApprovedTool | undefined {
    const found = this.#catalogue.find({ kind: 'prompt', exported })
    return found.state === 'approved' ? found.tool : undefined
  }

  /** Of two servers with the same template the one that stands first is shown, and asked. */
  #template(uriTemplate: string): ApprovedTool | undefined {
    for (const { resources, resourceRow } of this.#catalogue.members()) {
      if (resources?.hasTemplate(uriTemplate) !== true) continue
      return resourceRow?.found.state === 'approved' ? resourceRow.found.tool : undefined
    }
    return undefined
  }

  #readable(principal: Principal, uri: string): ApprovedTool | undefined {
    const found = this.#catalogue.find({ kind: 'resource', uri })
    return found.state === 'approved' && this.#visibility.sees(principal, found.tool) ? found.tool : undefined
  }
}
