import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import type { ServerDetail } from '../api/contract.ts'
import type { Context } from './context.ts'
import { type Exit, exits } from './exits.ts'
import { UsageFault } from './fault.ts'
import type { Io } from './io.ts'
import { fromNow } from './render/moment.ts'

const PATH = '/countersign/login'

/** `server login NAME`. The gateway holds what proves the login (PKCE verifier, state); here only a browser comes by. */
export async function login(context: Context, server: string, headless: boolean): Promise<Exit> {
  const { io, signal } = context
  const { client } = await context.attach()
  await using door = await openDoor(signal)
  const begun = await client.beginLogin(server, door.redirectUri)
  if ('code' in begun) return refused(begun, io)
  io.err(`Open this in a browser:\n\n  ${begun.url}\n`)
  if (headless) io.err('Then paste the URL that the browser is sent to, also where it shows an error.')
  const back = headless ? await pasted(signal) : await door.came
  if (back === undefined) throw new UsageFault('nothing was pasted')
  const done = await client.finishLogin(begun.login, back)
  if ('code' in done) return refused(done, io)
  if (io.json) io.outJson(done)
  else io.out(`Logged in: ${server} at ${done.auth?.issuer ?? 'its authorization server'}.`)
  return exits.done
}

export async function logout(context: Context, server: string): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const done = await client.logout(server)
  if (io.json) io.outJson(done)
  else io.out(`The tokens for ${server} are forgotten.`)
  return exits.done
}

export function authFields({ auth }: ServerDetail): Record<string, string | undefined> {
  if (auth === undefined) return {}
  const held = auth.issuer === undefined ? 'no token' : `a token of ${auth.issuer}`
  return {
    authorization: auth.problem === undefined ? held : `${held}: ${auth.problem}`,
    'token expires': auth.expiresAt === undefined ? undefined : fromNow(auth.expiresAt),
    'token refreshes': auth.issuer === undefined ? undefined : String(auth.refreshes),
    'token scopes': auth.scopes?.join(' '),
  }
}

function refused(
  refusal: { readonly code: string; readonly say: string; readonly next: string; readonly facts: object },
  io: Io,
): Exit {
  if (io.json) io.outJson(refusal)
  else {
    const { why } = refusal.facts as { why?: unknown }
    io.err(`${refusal.code}: ${refusal.say} ${refusal.next}`)
    if (typeof why === 'string') io.err(`  ${why}`)
  }
  return exits.refused
}

/** A loopback redirect (RFC 8252 §7.3) on any free port. It takes one answer, and shows nothing of what came. */
async function openDoor(signal: AbortSignal) {
  const came = Promise.withResolvers<string>()
  const server = createServer((request, response) => {
    const url = URL.parse(request.url ?? '', redirectUri)
    if (request.method !== 'GET' || url?.pathname !== PATH || request.headers.host !== new URL(redirectUri).host) {
      response.writeHead(404).end()
      return
    }
    response.writeHead(200, { 'content-type': 'text/plain; charset=utf-8', 'referrer-policy': 'no-referrer' })
    response.end('You may close this page and go back to the terminal.\n')
    came.resolve(url.href)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}${PATH}`
  const abort = (): void => came.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  // Where a URL is pasted nobody waits for a visit.
  came.promise.catch(() => {})
  return {
    redirectUri,
    came: came.promise,
    [Symbol.asyncDispose]: async () => {
      signal.removeEventListener('abort', abort)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** One line of standard input, which may be a pipe. */
async function pasted(signal: AbortSignal): Promise<string | undefined> {
  const lines = createInterface({ input: process.stdin, signal })
  for await (const line of lines) if (line.trim() !== '') return line.trim()
  return undefined
}
