import type {
  Offers,
  ServerDetail,
  ServerSummary,
  ToolDetail,
  ToolFilter,
  ToolRef,
  ToolSummary,
} from '../api/contract.ts'
import type { Config } from '../config/config.ts'
import type { Difference } from '../flow/tool/selected.ts'
import type { CatalogueEntry, CatalogueServer } from '../mcp/catalogue/entries.ts'
import { keyOf, type Row } from '../mcp/catalogue/rows.ts'
import type { ToolOffer } from '../model/toolbox.ts'
import { type JsonObject, isJsonObject, member, textMember } from '../words/json.ts'
import { refuse, type Refusal } from '../words/verdict.ts'
import type { Core } from './assemble.ts'
import { localUser } from './principals.ts'
import { diagnosticsOf, errorLines } from './server-diagnostics.ts'

type DeskCore = Pick<Core, 'catalogue' | 'policies' | 'upstreams' | 'apart' | 'auths' | 'known' | 'started'>

/** What people do with definitions: look, compare, approve, take back. */
export class CatalogueDesk {
  readonly #core: DeskCore
  readonly #config: Config

  constructor(core: DeskCore, config: Config) {
    this.#core = core
    this.#config = config
  }

  servers(): ServerSummary[] {
    return this.#core.catalogue.servers().map((server) => this.#summary(server))
  }

  server(name: string): ServerDetail | undefined {
    const found = this.#core.catalogue.server(name)
    if (found === undefined) return undefined
    const { declared, connection, identityDigest, approved, instructions, differences } = found
    const started = this.#core.started.get(name)
    const wanted = this.#config.servers.find(({ spec }) => spec.name === name)?.sandbox ?? 'none'
    const ready = connection.kind === 'ready' ? connection.negotiated : undefined
    return {
      ...this.#summary(found),
      identity: declared.identity,
      identityDigest,
      ...(approved === undefined ? {} : { approvedIdentityDigest: approved.identityDigest }),
      ...(instructions === undefined ? {} : { instructions }),
      ...(ready === undefined ? {} : { capabilities: ready.capabilities, connectedAt: ready.connectedAt }),
      ...(this.#core.auths.has(name) && { auth: this.#core.auths.get(name)!.state }),
      naming: declared.naming,
      resources: declared.resources,
      prompts: declared.prompts,
      // What holds, and not what is wished for.
      sandbox: started?.confined ?? 'none',
      ...(started?.why === undefined ? {} : { sandboxWhy: started.why }),
      sandboxWanted: wanted,
      ...diagnosticsOf(name, found, this.#core),
      differences: differences.map(differenceView),
    }
  }

  #summary(server: CatalogueServer): ServerSummary {
    const { name } = server.declared.spec
    const lastWords = server.connection.kind === 'ready' ? undefined : errorLines(name, this.#core).at(-1)
    return { ...summaryOf(server), ...(lastWords === undefined ? {} : { lastWords }) }
  }

  tools(filter: ToolFilter): ToolSummary[] {
    return this.#core.catalogue
      .entries()
      .filter(
        ({ server, kind, state }) =>
          (filter.server === undefined || filter.server === server) &&
          (filter.kind === undefined || filter.kind === kind) &&
          (filter.state === undefined || filter.state === state),
      )
      .map(toolSummary)
  }

  tool({ server, name, kind }: ToolRef): ToolDetail | undefined {
    const key = keyOf(kind, server, name)
    const entry = this.#core.catalogue.entry(key)
    const row = this.#core.catalogue.show(key)
    if (entry === undefined || row === undefined) return undefined
    const { entry: approved, listed, differences, about } = row
    return {
      ...toolSummary(entry),
      profile: JSON.parse(JSON.stringify(about.profile)) as JsonObject,
      ...(approved === undefined ? {} : { approved: approved.definition }),
      ...(listed === undefined ? {} : { live: listed.definition }),
      differences: differences.map(differenceView),
    }
  }

  /** TOOL_CHANGED where the server says something else by now than the approver has seen. */
  approve(ref: ToolRef, pin: string, by: string): Promise<ToolSummary | Refusal | undefined> {
    const key = keyOf(ref.kind, ref.server, ref.name)
    const row = this.#core.catalogue.show(key)
    if (row === undefined) return Promise.resolve(undefined)
    // Whoever approves a tool of a server that changed has been shown in what the server differs, and means both.
    const server = row.standing === 'server-changed' ? [{ key: ref.server }] : []
    return this.#settled(key, () => this.#core.catalogue.approve([...server, { key, pin }], by, Date.now()))
  }

  quarantine(ref: ToolRef, by: string, why: string): Promise<ToolSummary | Refusal | undefined> {
    const key = keyOf(ref.kind, ref.server, ref.name)
    if (this.#core.catalogue.show(key) === undefined) return Promise.resolve(undefined)
    return this.#settled(key, () => this.#core.catalogue.quarantine([key], by, Date.now(), why))
  }

  async #settled(
    key: string,
    change: () => readonly { readonly outcome: string; readonly why?: string }[],
  ): Promise<ToolSummary | Refusal | undefined> {
    const refused = change().find(({ outcome }) => outcome === 'refused')
    if (refused !== undefined) return refuse('TOOL_CHANGED', { tool: key, why: refused.why ?? '' })
    const entry = this.#core.catalogue.entry(key)
    return entry && toolSummary(entry)
  }

  /** Approved tools in reach that the local user may see. */
  offers(): Offers['offers'] & readonly ToolOffer[] {
    return this.#core.catalogue
      .entries()
      .filter(({ kind, state }) => kind === 'tool' && state === 'approved')
      .map(({ key }) => this.#core.catalogue.show(key))
      .filter((row): row is Row & { tool: NonNullable<Row['tool']> } => row?.tool !== undefined)
      .filter(({ tool }) => this.#core.policies.sees(localUser, tool))
      .map(({ tool }) => offerOf(tool.exportedName, tool.server, tool.definition))
  }
}

function offerOf(exported: string, server: string, definition: JsonObject): ToolOffer {
  const schema = member(definition, 'inputSchema')
  const title = textMember(definition, 'title')
  return {
    exported,
    server,
    ...(title === undefined ? {} : { title }),
    description: textMember(definition, 'description') ?? '',
    inputSchema: isJsonObject(schema) ? schema : { type: 'object' },
  }
}

function summaryOf({ declared, connection, why, counts }: CatalogueServer): ServerSummary {
  const name = declared.spec.name
  const base = { name, state: connection.kind, tools: counts, ...(why === undefined ? {} : { why }) }
  switch (connection.kind) {
    case 'ready': {
      const { transport, revision, serverInfo, pid } = connection.negotiated
      return { ...base, transport, revision, serverInfo, ...(pid === undefined ? {} : { pid }) }
    }
    case 'down':
      return { ...base, why: connection.why, nextTryAt: connection.nextTryAt }
    case 'connecting':
    case 'closed':
      return base
    default:
      return connection satisfies never
  }
}

function toolSummary(entry: CatalogueEntry): ToolSummary {
  const { key, kind, server, name, exportedName, state, effect, risk, declared } = entry
  const { description, pin, livePin, approvedBy, approvedAt } = entry
  return {
    key,
    kind,
    server,
    name,
    exportedName,
    state,
    effect,
    risk,
    declared,
    ...(description === undefined ? {} : { description }),
    ...(pin === undefined ? {} : { pin }),
    ...(livePin === undefined ? {} : { livePin }),
    ...(approvedBy === undefined ? {} : { approvedBy }),
    ...(approvedAt === undefined ? {} : { approvedAt }),
  }
}

function differenceView({ at, approved, live }: Difference): { at: string; approved?: string; live?: string } {
  return { at, ...(approved === undefined ? {} : { approved }), ...(live === undefined ? {} : { live }) }
}
