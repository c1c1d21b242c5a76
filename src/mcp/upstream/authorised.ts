import { type Challenge, challengeOf } from '../../identity/client/challenge.ts'
import { notSent, type Ended, type Leg, type LegRequest } from './link.ts'

/** Where the tokens of one link come from. */
export interface LinkAuth {
  /** What `Authorization` says now. Undefined: the server is to say what it wants. Never rejects. */
  authorization(): string | undefined | Promise<string | undefined>
  current(): string | undefined
  /** Resolves true where another authorization is at hand by now. Never rejects. */
  challenged(challenge: Challenge, status: 401 | 403, used: string | undefined): Promise<boolean>
  readonly state: { readonly problem?: string }
}

/** Opens the leg with this authorization. */
export type Send = (leg: LegRequest, authorization: string | undefined) => Leg

/** A first request, one for a token that was missing or old, one for a step up. */
const MOST_TRIES = 3

/**
 * A leg on a link whose server wants tokens. The only answer after which the request goes out again is a refusal by which the
 * server says that it has not acted: 401 with a challenge ("has not been applied", RFC 9110 §15.5.2), and 403 with the challenge
 * `insufficient_scope` (RFC 6750 §3.1). Any other ends the leg.
 */
export function authorised(auth: LinkAuth, leg: LegRequest, send: Send): Leg {
  return new AuthorisedLeg(auth, leg, send)
}

class AuthorisedLeg implements Leg {
  readonly #auth: LinkAuth
  readonly #leg: LegRequest
  readonly #send: Send
  #inner: Leg | undefined
  #dropped = false
  #tries = 0

  constructor(auth: LinkAuth, leg: LegRequest, send: Send) {
    this.#auth = auth
    this.#leg = leg
    this.#send = send
    const authorization = auth.authorization()
    if (typeof authorization === 'object') void authorization.then((it) => this.#try(it))
    else this.#try(authorization)
  }

  /** While a token is got after a refusal nothing of the request is under way: what left was not acted on. */
  get sent(): boolean {
    return this.#inner?.sent === true
  }

  drop(): void {
    this.#dropped = true
    this.#inner?.drop()
  }

  #try(authorization: string | undefined): void {
    if (this.#dropped) return
    this.#tries++
    this.#inner = this.#send({ ...this.#leg, end: (ended) => void this.#ended(ended, authorization) }, authorization)
  }

  async #ended(ended: Ended, used: string | undefined): Promise<void> {
    const refused = refusalOf(ended)
    if (refused === undefined) return this.#leg.end(ended)
    this.#inner = undefined
    const again = this.#tries < MOST_TRIES && (await this.#auth.challenged(refused.challenge, refused.status, used))
    if (this.#dropped) return
    if (again) return this.#try(this.#auth.current())
    const why = this.#auth.state.problem
    const said = refused.status === 401 ? 'the server wants authorization' : 'the server wants more than was granted'
    this.#leg.end({ ...notSent(why === undefined ? said : `${said}: ${why}`), status: refused.status })
  }
}

function refusalOf({ status, challenge: header }: Ended): { status: 401 | 403; challenge: Challenge } | undefined {
  if (status !== 401 && status !== 403) return undefined
  const challenge = challengeOf(header)
  if (challenge === undefined) return undefined
  return status === 401 || challenge.error === 'insufficient_scope' ? { status, challenge } : undefined
}
