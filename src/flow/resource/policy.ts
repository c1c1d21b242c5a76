import { type AuthorizationAnswer, type Context, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs'
import type { Digest } from '../../words/digest.ts'
import type { Principal } from '../principal/principal.ts'
import type { Door } from '../proposal/proposal.ts'
import type { ApprovedTool, Visibility } from '../tool/selected.ts'
import type { PolicyAction } from './cedar-schema.ts'
import { DecisionCache } from './decision-cache.ts'
import { type Loaded, type PolicyText, SCHEMA, loadPolicies } from './policy-set.ts'
import type { Policies, PolicyAnswer, Scope } from './scoped.ts'

/** Of a call, what the policies are told. A `Selected` is one. */
export interface Asking {
  readonly principal: Principal
  readonly tool: PolicyTool
  readonly proposal: { readonly origin: { readonly door: Door } }
}
export type PolicyTool = Pick<ApprovedTool, 'kind' | 'key' | 'server' | 'name' | 'profile'>

type Ruling =
  | { readonly kind: 'permit'; readonly policies: readonly string[] }
  | { readonly kind: 'deny'; readonly policies: readonly string[] }
  | { readonly kind: 'error'; readonly messages: readonly string[] }

const DOORS = ['gateway', 'host', 'code', 'cli', 'library'] as const satisfies readonly Door[]
// A decision costs Cedar some 250 microseconds and a look into the cache less than one. 16,384 are enough for 16
// principals who list 1,000 tools each; with keys of at most 2 KB they are bounded in memory too.
const KEPT = 16_384
const LONGEST_KEY = 2_048

/**
 * Cedar behind the two ports that ask "may they?". Whatever is not a clean answer (a policy that does not load, a request
 * that does not fit the schema, a policy that fails while it is evaluated) is an error, and an error is a no.
 */
export class CedarPolicies implements Policies, Visibility {
  readonly version: Digest
  readonly #loaded: Loaded
  readonly #rulings = new DecisionCache<Ruling>(KEPT, LONGEST_KEY)
  readonly #visible = new DecisionCache<boolean>(KEPT, LONGEST_KEY)

  /** Policies with a fault do not throw: every decision is an error then, with the messages of `checkPolicies`. */
  constructor(texts: readonly PolicyText[]) {
    this.#loaded = loadPolicies(texts)
    this.version = this.#loaded.version
  }

  /** One request with the action `call`, then one for each scope with its access as the action; all must be permitted. */
  decide(asking: Asking, scopes: readonly Scope[], catalogueVersion: number): PolicyAnswer {
    const { principal, tool, proposal } = asking
    const door = proposal.origin.door
    const key = `${catalogueVersion}|${door}|${keyOf(principal, tool)}`
    const called = this.#cached(key, 'call', door, principal, tool, undefined)
    if (called.kind === 'error') return called
    if (called.kind === 'deny') return { kind: 'deny', policies: called.policies, scope: undefined }
    if (scopes.length === 0) return called

    const policies = new Set(called.policies)
    for (const scope of scopes) {
      const ruling = this.#cached(`${key}${scopeKey(scope)}`, scope.access, door, principal, tool, scope)
      if (ruling.kind === 'error') return ruling
      if (ruling.kind === 'deny') return { kind: 'deny', policies: ruling.policies, scope }
      for (const policy of ruling.policies) policies.add(policy)
    }
    return { kind: 'permit', policies: [...policies].sort() }
  }

  /** True where the principal may see the tool and may call it through one door at least: what is never callable is not seen. */
  sees(principal: Principal, tool: PolicyTool): boolean {
    const key = keyOf(principal, tool)
    const known = this.#visible.get(key)
    if (known !== undefined) return known
    const see = this.#ask('see', undefined, principal, tool, undefined)
    const visible =
      see.kind === 'permit' &&
      DOORS.some((door) => this.#ask('call', door, principal, tool, undefined).kind === 'permit')
    if (see.kind !== 'error') this.#visible.set(key, visible)
    return visible
  }

  #cached(
    key: string,
    action: PolicyAction,
    door: Door,
    principal: Principal,
    tool: PolicyTool,
    scope: Scope | undefined,
  ) {
    const known = this.#rulings.get(key)
    if (known !== undefined) return known
    const ruling = this.#ask(action, door, principal, tool, scope)
    if (ruling.kind !== 'error') this.#rulings.set(key, ruling)
    return ruling
  }

  #ask(
    action: PolicyAction,
    door: Door | undefined,
    principal: Principal,
    tool: PolicyTool,
    scope: Scope | undefined,
  ): Ruling {
    if (!this.#loaded.ok) return { kind: 'error', messages: this.#loaded.messages }
    const asker = { type: principal.kind === 'user' ? 'User' : 'Service', id: principal.id }
    const asked = { type: 'Tool', id: tool.key }
    try {
      return rulingOf(
        statefulIsAuthorized({
          principal: asker,
          action: { type: 'Action', id: action },
          resource: asked,
          context: contextOf(door, scope),
          entities: [
            {
              uid: asker,
              attrs: { id: principal.id, kind: principal.kind, tenant: principal.tenant },
              parents: [
                { type: 'Tenant', id: principal.tenant },
                ...principal.groups.map((id) => ({ type: 'Group', id })),
              ],
            },
            {
              uid: asked,
              attrs: {
                server: tool.server,
                name: tool.name,
                kind: tool.kind,
                effect: tool.profile.effect,
                risk: tool.profile.risk,
                declared: tool.profile.declared,
              },
              parents: [{ type: 'Server', id: tool.server }],
            },
          ],
          preparsedPolicySetId: this.version,
          preparsedSchemaName: SCHEMA,
          validateRequest: true,
        }),
      )
    } catch (fault) {
      // Cedar's binding throws for text that is not well-formed Unicode, and would for a fault of its own.
      return { kind: 'error', messages: [String(fault)] }
    }
  }
}

// Cedar skips a policy that fails, be it a `forbid`, and still answers: so one diagnostic outweighs the decision.
function rulingOf(answer: AuthorizationAnswer): Ruling {
  if (answer.type !== 'success') return { kind: 'error', messages: answer.errors.map((error) => error.message) }
  const { decision, diagnostics } = answer.response
  if (diagnostics.errors.length > 0 || answer.warnings.length > 0) {
    const failed = diagnostics.errors.map(({ policyId, error }) => `${policyId}: ${error.message}`)
    return { kind: 'error', messages: [...failed, ...answer.warnings.map((warning) => warning.message)] }
  }
  const policies = diagnostics.reason.toSorted()
  return decision === 'allow' ? { kind: 'permit', policies } : { kind: 'deny', policies }
}

function contextOf(door: Door | undefined, scope: Scope | undefined): Context {
  if (door === undefined) return {}
  if (scope === undefined) return { door }
  const { kind, value, within, hardLinked = false } = scope
  return { door, scope: { kind, value, within: [...within], hardLinked } }
}

// Each text with its length before it, so that no two different requests have one key.
function keyOf({ id, kind, tenant, groups }: Principal, tool: PolicyTool): string {
  let key = `${kind}|${id.length}:${id}${tenant.length}:${tenant}`
  for (const group of groups) key += `${group.length}:${group}`
  const { effect, risk, declared } = tool.profile
  return `${key}|${tool.kind}|${tool.key.length}:${tool.key}${tool.server.length}:${tool.server}${tool.name.length}:${tool.name}${effect}|${risk}|${declared}`
}

function scopeKey({ kind, value, access, within, hardLinked }: Scope): string {
  let key = `|${access}|${kind}|${hardLinked === true}|${value.length}:${value}`
  for (const root of within) key += `${root.length}:${root}`
  return key
}
