import type { Principal } from '../principal/principal.ts'
import type { ApprovedTool } from '../tool/selected.ts'
import { Recent } from './decision-cache.ts'

export type PolicyPrincipal = Pick<Principal, 'id' | 'kind' | 'tenant' | 'groups' | 'scopes'>
export type PolicyTool = Pick<ApprovedTool, 'kind' | 'key' | 'server' | 'name'> & {
  readonly profile: Pick<ApprovedTool['profile'], 'effect' | 'risk' | 'declared'>
}

/** One principal and one tool with every attribute that policies can read of them, and what was decided for the two. */
export interface Acquaintance<Ruling> {
  /** Never given twice, so that keys made of it can not mean another pair. */
  readonly number: number
  readonly principal: PolicyPrincipal
  readonly tool: PolicyTool
  visible: boolean | undefined
  /** By door, and by what the arguments have to do with results that nobody vouches for. */
  readonly calls: Map<string, { readonly catalogueVersion: number; readonly ruling: Ruling }>
}

/**
 * Finds the pair by two lookups and a comparison of all attributes; to build a text of them as a key and to hash it
 * would cost ten times as much on every call.
 */
export class Acquaintances<Ruling> {
  readonly #byTool = new Map<string, Map<string, Acquaintance<Ruling>[]>>()
  readonly #recent: Recent<Acquaintance<Ruling>, Acquaintance<Ruling>>
  #made = 0

  constructor(limit: number) {
    this.#recent = new Recent(limit, (gone) => this.#forget(gone))
  }

  of(principal: PolicyPrincipal, tool: PolicyTool): Acquaintance<Ruling> {
    const alike = this.#byTool.get(tool.key)?.get(principal.id)
    if (alike !== undefined) {
      for (const known of alike) {
        if (samePrincipal(known.principal, principal) && sameTool(known.tool, tool)) return this.#recent.get(known)!
      }
    }
    return this.#meet(principal, tool)
  }

  #meet({ id, kind, tenant, groups, scopes }: PolicyPrincipal, tool: PolicyTool): Acquaintance<Ruling> {
    const { effect, risk, declared } = tool.profile
    const met: Acquaintance<Ruling> = {
      number: this.#made++,
      // Copies: what was decided stays bound to the attributes it was decided on.
      principal: { id, kind, tenant, groups: [...groups], ...(scopes !== undefined && { scopes: [...scopes] }) },
      tool: {
        kind: tool.kind,
        key: tool.key,
        server: tool.server,
        name: tool.name,
        profile: { effect, risk, declared },
      },
      visible: undefined,
      calls: new Map(),
    }
    const byPrincipal = this.#byTool.get(tool.key) ?? new Map<string, Acquaintance<Ruling>[]>()
    this.#byTool.set(tool.key, byPrincipal)
    byPrincipal.set(id, [...(byPrincipal.get(id) ?? []), met])
    this.#recent.set(met, met)
    return met
  }

  #forget(gone: Acquaintance<Ruling>): void {
    const byPrincipal = this.#byTool.get(gone.tool.key)!
    const rest = byPrincipal.get(gone.principal.id)!.filter((known) => known !== gone)
    if (rest.length > 0) byPrincipal.set(gone.principal.id, rest)
    else byPrincipal.delete(gone.principal.id)
    if (byPrincipal.size === 0) this.#byTool.delete(gone.tool.key)
  }
}

function samePrincipal(a: PolicyPrincipal, b: PolicyPrincipal): boolean {
  return (
    a.id === b.id &&
    a.kind === b.kind &&
    a.tenant === b.tenant &&
    same(a.groups, b.groups) &&
    (a.scopes === b.scopes || same(a.scopes ?? [], b.scopes ?? []))
  )
}

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one, n) => one === b[n])
}

function sameTool(a: PolicyTool, b: PolicyTool): boolean {
  return (
    a.key === b.key &&
    a.kind === b.kind &&
    a.server === b.server &&
    a.name === b.name &&
    a.profile.effect === b.profile.effect &&
    a.profile.risk === b.profile.risk &&
    a.profile.declared === b.profile.declared
  )
}
