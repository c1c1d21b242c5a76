import type { LinkEvents, Link, Strays } from './link.ts'
import { openHttp, type HttpOptions } from './http.ts'
import { openMemory } from './memory.ts'
import { openStdio, type StdioOptions } from './stdio.ts'
import type { UpstreamSpec } from './upstream.ts'

export interface LinkOptions extends StdioOptions, HttpOptions {}

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
      return Promise.resolve(openHttp(reach, { connectTimeoutMs, ...options }, events, strays))
    default:
      return reach satisfies never
  }
}
