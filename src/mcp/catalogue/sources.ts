import type { WireOutcome } from '../../flow/receipt/receipt.ts'
import type { Principal } from '../../flow/principal/principal.ts'
import type { JsonObject } from '../../words/json.ts'

/** What a principal may ask of the servers besides calls: nothing here has an effect, and nothing unseen is answered for. */
export interface Sources {
  /**
   * `completion/complete`: values for an argument of a prompt, or of a resource template, that the principal may see. The
   * outcome is that of the server, or undefined where there is no such thing for this principal.
   */
  complete(principal: Principal, asked: Completing, signal: AbortSignal): Promise<WireOutcome | undefined>
  /**
   * Tells of changes of a resource that the principal may read, for as long as it may. Resolves what ends it; undefined where
   * there is no such resource, or its server says nothing of changes.
   */
  watch(principal: Principal, uri: string, listener: (uri: string) => void): Promise<(() => void) | undefined>
}

export interface Completing {
  readonly ref:
    | { readonly type: 'ref/prompt'; readonly name: string }
    | { readonly type: 'ref/resource'; readonly uri: string }
  readonly argument: { readonly name: string; readonly value: string }
  /** Values of other arguments that were chosen already. */
  readonly context?: JsonObject
}
