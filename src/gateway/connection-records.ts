import type { Happening } from '../flow/evidence/record.ts'
import { visible } from '../flow/tool/visible.ts'
import type { Upstream } from '../mcp/upstream/upstream.ts'
import { type Json, type JsonObject, isJsonObject, textMember } from '../words/json.ts'
import { version } from './version.ts'

/** Names of a server's own that go on the record, and how long each may be. */
const MOST_NAMES = 64
const LONGEST = 128

/** Puts on record what both ends agreed on, once for each connection. */
export function recordConnections(upstream: Upstream, record: (happening: Happening) => void): void {
  upstream.onState((state) => {
    if (state.kind !== 'ready') return
    const { revision, transport, serverInfo, capabilities, connectedAt } = state.negotiated
    const facts = {
      server: upstream.name,
      transport,
      revision,
      /** Who spoke on our side of the wire. */
      client: `countersign ${version}`,
      serverInfo: { name: said(serverInfo, 'name'), version: said(serverInfo, 'version') },
      capabilities: namesOf(capabilities),
    }
    record({ kind: 'upstream.connected', at: connectedAt, facts })
  })
}

function said(info: JsonObject, name: string): string {
  return visible((textMember(info, name) ?? '').slice(0, LONGEST).toWellFormed())
}

/** `tools.listChanged` for what is said to be true, `completions` for what is just there. */
function namesOf(capabilities: JsonObject): string[] {
  const names: string[] = []
  for (const [name, value] of Object.entries(capabilities)) {
    names.push(name)
    if (isJsonObject(value))
      for (const [part, it] of Object.entries(value)) if (isSet(it)) names.push(`${name}.${part}`)
  }
  return names.slice(0, MOST_NAMES).map((name) => visible(name.slice(0, LONGEST).toWellFormed()))
}

function isSet(value: Json): boolean {
  return value === true || isJsonObject(value)
}
