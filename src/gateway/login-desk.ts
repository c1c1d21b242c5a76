import type { BeginLogin, FinishLogin, Login } from '../api/contract.ts'
import { AuthFault } from '../identity/client/fault.ts'
import type { Login as Pending, UpstreamAuth } from '../identity/client/upstream-auth.ts'
import type { ConnectedUpstream } from '../mcp/upstream/connection.ts'
import { newId } from '../words/id.ts'
import { refuse, type Refusal } from '../words/verdict.ts'

const MOST_LOGINS = 64
const ANSWER_MS = 25_000

/** Logins at authorization servers of upstreams, from the URL that a person opens to the URL that comes back. */
export class LoginDesk {
  readonly #auths: ReadonlyMap<string, UpstreamAuth>
  readonly #upstreams: ReadonlyMap<string, Pick<ConnectedUpstream, 'retry'>>
  readonly #pending = new Map<string, { readonly server: string; readonly login: Pending }>()

  constructor(
    auths: ReadonlyMap<string, UpstreamAuth>,
    upstreams: ReadonlyMap<string, Pick<ConnectedUpstream, 'retry'>>,
  ) {
    this.#auths = auths
    this.#upstreams = upstreams
  }

  async begin(server: string, { redirectUri }: BeginLogin): Promise<Login | Refusal> {
    const auth = this.#auths.get(server)
    if (auth === undefined)
      return refuse('LOGIN_REFUSED', { server, why: 'the configuration has no `auth` for this server' })
    try {
      const login = await auth.login(redirectUri, AbortSignal.timeout(ANSWER_MS))
      const id = newId('lgn')
      this.#pending.set(id, { server, login })
      for (const oldest of this.#pending.keys()) {
        if (this.#pending.size <= MOST_LOGINS) break
        this.#pending.delete(oldest)
      }
      return { login: id, url: login.url.href }
    } catch (fault) {
      return refused(server, fault)
    }
  }

  /** Answers the name of the server that somebody is logged in at now. */
  async finish(id: string, { back }: FinishLogin): Promise<string | Refusal | undefined> {
    const pending = this.#pending.get(id)
    const url = URL.parse(back)
    if (pending === undefined) return undefined
    const { server, login } = pending
    if (url === null) return refuse('LOGIN_REFUSED', { server, why: 'that is not a URL' })
    this.#pending.delete(id)
    try {
      await login.finish(url, AbortSignal.timeout(ANSWER_MS))
    } catch (fault) {
      return refused(server, fault)
    }
    this.#upstreams.get(server)?.retry()
    return server
  }

  logout(server: string): void {
    this.#auths.get(server)?.logout()
  }
}

function refused(server: string, fault: unknown): Refusal {
  if (!(fault instanceof AuthFault)) throw fault
  return refuse('LOGIN_REFUSED', { server, code: fault.code, why: fault.message })
}
