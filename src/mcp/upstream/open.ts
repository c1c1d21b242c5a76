import type { LinkEvents, Link, Strays } from './link.ts'
import { openHttp, type HttpOptions } from './http.ts'
import { openHttpSse } from './http-sse.ts'
import { openMemory } from './memory.ts'
import { openStdio, type StdioOptions } from './stdio.ts'
import type { UpstreamSpec } from './upstream.ts'

export interface LinkOptions extends StdioOptions, HttpOptions {
  /** By HTTP+SSE of 2024-11-05 in place of Streamable HTTP. */
  readonly sse?: boolean
}

/** Opens the way that the specification names; nothing has been said on it yet. Throws where it cannot be opened. */
export function openLink(
  { reach, connectTimeoutMs }: UpstreamSpec,
  options: LinkOptions,
  events: LinkEvents,
  strays: Strays,
): Promise<Link> {
  switch (reach.kind) {
    case 'memory':
      return openMemory(reach.open, events, strays)
    case 'stdio':
      return Promise.resolve(openStdio(reach, options, events, strays))
    case 'http':
      if (options.sse === true) return openHttpSse(reach, { connectTimeoutMs, ...options }, events, strays)
      return Promise.resolve(openHttp(reach, { connectTimeoutMs, ...options }, events, strays))
    default:
      return reach satisfies never
  }
}
