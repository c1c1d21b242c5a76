import type { Answer, Flow } from '../../flow/answer.ts'
import type { Identities } from '../../flow/principal/principal.ts'
import type { JsonObject } from '../../words/json.ts'
import type { Refusal } from '../../words/verdict.ts'
import type { DoorAuthorization } from './authorization.ts'
import type { Shelf } from '../catalogue/shelf.ts'
import type { Sources } from '../catalogue/sources.ts'
import type { Exposure } from './exposed.ts'

/** Whose something is: what one principal of one tenant kept, no other may read. */
export interface Owner {
  readonly tenant: string
  readonly principal: string
}

/** Where a yes or no that came back through a client is put on record. */
export interface ApprovalAnswers {
  /**
   * Resolves undefined when the answer is on record, and also when the question had been decided by then (the flow judges
   * the call again anyway). A refusal says that this person or this channel may not answer.
   */
  answer(
    approval: string,
    answer: {
      readonly by: string
      readonly channel: 'elicitation'
      readonly decision: 'granted' | 'denied'
      readonly why?: string
    },
  ): Promise<Refusal | undefined>
}

/** A part of a text that was too large to be handed out whole. Offsets and lengths count characters. */
export interface Page {
  readonly text: string
  readonly mimeType: string
  readonly offset: number
  readonly total: number
  /** Offset of the next part; absent at the end. */
  readonly next?: number
}

/** Reads what the result gate put aside under `countersign://` URIs. Undefined: no such thing, or not this owner's. */
export interface SpillReader {
  read(owner: Owner, uri: string, offset: number, limit: number): Page | undefined
}

/** What the caller may know of an operation of its own. Undefined: no such operation, or not this owner's. */
export interface OperationStatus {
  status(owner: Owner, operation: string): JsonObject | undefined
  /**
   * Waits until the operation is at rest, so many milliseconds at most. Answers what is known of it then, and its result
   * where that came after the caller had been told that nobody knows yet.
   */
  wait?(
    owner: Owner,
    operation: string,
    ms: number,
    signal: AbortSignal,
  ): Promise<{ readonly status: JsonObject; readonly answer?: Extract<Answer, { kind: 'answered' }> } | undefined>
}

/** Everything that the downstream side needs of the rest. */
export interface Ports {
  readonly flow: Flow
  readonly shelf: Shelf
  readonly sources: Sources
  readonly identities: Identities
  /** Present where access tokens of authorization servers are taken. */
  readonly authorization?: DoorAuthorization
  readonly approvals: ApprovalAnswers
  readonly spill: SpillReader
  /** Present: clients may search the catalogue, and some are shown three tools in place of all. */
  readonly exposure?: Exposure
  /** Present: clients are offered the tools `countersign__operation_status` and, where it can wait, `countersign__operation_wait`. */
  readonly operations?: OperationStatus
  /** Told of every exception that was turned into an internal error for a client. Must not throw. */
  readonly onFault: (fault: unknown, where: string) => void
}
