import { errorCodes, type RequestId } from '../wire/jsonrpc.ts'
import type { FrontDoor } from './front-door.ts'
import type { Cancellable, Peer } from './peer.ts'
import { REFUSED, refusalData, refusalText, refused } from './refused.ts'
import { type Reply, failure } from './reply.ts'
import type { ClientRequest, Outlet } from './request.ts'

/** One request that is no call and still takes time, since a server is asked: it counts, and it can be cancelled. */
export class Errand implements Cancellable {
  readonly id: RequestId
  readonly #outlet: Outlet
  readonly #peer: Peer | undefined
  readonly #controller = new AbortController()
  #over = false

  static run(
    request: ClientRequest,
    outlet: Outlet,
    door: FrontDoor,
    peer: Peer | undefined,
    work: (signal: AbortSignal) => Promise<Reply>,
  ): void {
    const { callsAtOnce, callsPerPrincipal } = door.options.limits
    const limit =
      peer !== undefined && peer.running >= callsAtOnce
        ? callsAtOnce
        : door.callers.of(request.principal) >= callsPerPrincipal
          ? callsPerPrincipal
          : undefined
    if (limit !== undefined) {
      const no = refused('TOO_MANY_AT_ONCE', { limit })
      return outlet.reply(failure(request.id, REFUSED, refusalText(no), refusalData(no), 429))
    }
    const errand = new Errand(request, outlet, peer)
    const ended = door.callers.began(request.principal)
    void work(errand.#controller.signal)
      .catch((fault: unknown) => {
        door.ports.onFault(fault, request.method)
        return failure(request.id, errorCodes.internal, 'Internal error')
      })
      .then((reply) => errand.#finish(reply))
      .finally(ended)
  }

  constructor(request: ClientRequest, outlet: Outlet, peer: Peer | undefined) {
    this.id = request.id
    this.#outlet = outlet
    this.#peer = peer
    outlet.onLeft = () => this.cancel('the client closed the stream')
    peer?.began(this)
  }

  cancel(why: string): void {
    if (this.#over) return
    this.#end()
    this.#controller.abort(new Error(why))
    this.#outlet.abandon()
  }

  #finish(reply: Reply): void {
    if (this.#over) return
    this.#end()
    this.#outlet.reply(reply)
  }

  #end(): void {
    this.#over = true
    this.#outlet.onLeft = undefined
    this.#peer?.ended(this)
  }
}
