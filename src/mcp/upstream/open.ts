import { SecretReference } from '../../identity/secrets/reference.ts'
import { Secret } from '../../words/secret.ts'
import type { LinkEvents, Link, Strays } from './link.ts'
import { openHttp, type HttpOptions } from './http.ts'
import { openHttpSse } from './http-sse.ts'
import { openMemory } from './memory.ts'
import { openStdio, type StdioOptions } from './stdio.ts'
import type { UpstreamSpec } from './upstream.ts'

export interface LinkOptions extends StdioOptions, HttpOptions {
  /** By HTTP+SSE of 2024-11-05 in place of Streamable HTTP. */
  readonly sse?: boolean
  /** Told of every secret that is handed over, so that it is known when it comes back. */
  readonly onSecret?: (secret: Secret) => void
}

/**
 * Opens the way that the specification names; nothing has been said on it yet. Throws where it cannot be opened. Secrets that are
 * only referred to are read here, for this one link.
 */
export async function openLink(
  { reach, connectTimeoutMs }: UpstreamSpec,
  options: LinkOptions,
  events: LinkEvents,
  strays: Strays,
): Promise<Link> {
  switch (reach.kind) {
    case 'memory':
      return openMemory(reach.open, events, strays)
    case 'stdio':
      if (reach.refused !== undefined) throw new Error(reach.refused)
      return openStdio({ ...reach, env: await handedOver(reach.env, options) }, options, events, strays)
    case 'http': {
      const ready = { ...reach, headers: await handedOver(reach.headers, options) }
      if (options.sse === true) return openHttpSse(ready, { connectTimeoutMs, ...options }, events, strays)
      return openHttp(ready, { connectTimeoutMs, ...options }, events, strays)
    }
    default:
      return reach satisfies never
  }
}

type Given = Readonly<Record<string, Secret | SecretReference | string>>

async function handedOver(given: Given, { onSecret }: LinkOptions): Promise<Record<string, Secret | string>> {
  const ready: Record<string, Secret | string> = {}
  for (const [name, value] of Object.entries(given)) {
    const one = value instanceof SecretReference ? await value.resolve() : value
    if (one instanceof Secret) onSecret?.(one)
    ready[name] = one
  }
  return ready
}
