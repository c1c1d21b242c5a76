import { execFile } from 'node:child_process'
import type { NoticeWay } from '../config/config.ts'
import { safeFetch } from '../identity/safe-fetch/safe-fetch.ts'
import { SecretReference } from '../identity/secrets/reference.ts'
import type { Notice } from './notices.ts'
import { isLocal } from './principals.ts'

/** Hands one notice over. Rejects where it did not get there; what the other side says is not repeated. */
export type Deliver = (notice: Notice, signal: AbortSignal) => Promise<void>

export function deliverBy(way: NoticeWay, folder: string): Deliver {
  switch (way.to) {
    case 'desktop':
      // What a server is called is no option of ours.
      return ({ title, text }, signal) =>
        run(['notify-send', '--app-name=Countersign', '--', title, text], '', folder, signal)
    case 'command':
      return (notice, signal) => run(way.command, `${JSON.stringify(notice)}\n`, folder, signal)
    case 'webhook': {
      const url = new URL(way.url)
      // The operator named this host, and no other: a redirect elsewhere is judged like a stranger's.
      const fetch = safeFetch({ reach: { loopback: isLocal(url.hostname), hosts: [url.host] }, maxBytes: 64 * 1024 })
      return async (notice, signal) => {
        const headers: Record<string, string> = { 'content-type': 'application/json' }
        for (const [name, value] of Object.entries(way.headers))
          headers[name] = (value instanceof SecretReference ? await value.resolve() : value).reveal()
        const { status } = await fetch(url, { method: 'POST', headers, body: JSON.stringify(notice), signal })
        if (status >= 300) throw new Error(`the webhook at ${url.host} answered with status ${status}`)
      }
    }
    default:
      return way satisfies never
  }
}

function run(argv: readonly string[], input: string, cwd: string, signal: AbortSignal): Promise<void> {
  return new Promise((done, fail) => {
    const { PATH = '', HOME = '', DBUS_SESSION_BUS_ADDRESS, DISPLAY, WAYLAND_DISPLAY, XDG_RUNTIME_DIR } = process.env
    const env = { PATH, HOME, DBUS_SESSION_BUS_ADDRESS, DISPLAY, WAYLAND_DISPLAY, XDG_RUNTIME_DIR }
    const options = { cwd, env, signal, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 } as const
    const child = execFile(argv[0]!, argv.slice(1), options, (fault) => {
      if (fault === null) done()
      else fail(new Error(`${argv[0]} did not take the notice (${String(fault.code ?? fault.name)})`))
    })
    // It may end without having read anything.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
