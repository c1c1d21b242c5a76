import { type AuthorizationAnswer, type Context, statefulIsAuthorized } from '@cedar-policy/cedar-wasm/nodejs'
import type { Digest } from '../../words/digest.ts'
import type { Door } from '../proposal/proposal.ts'
import type { Visibility } from '../tool/selected.ts'
import { type Acquaintance, Acquaintances, type PolicyPrincipal, type PolicyTool } from './acquaintance.ts'
import type { PolicyAction } from './cedar-schema.ts'
import { Recent } from './decision-cache.ts'
import { type Loaded, type PolicyText, SCHEMA, loadPolicies } from './policy-set.ts'
import type { Policies, PolicyAnswer, Scope } from './scoped.ts'
import { type Taint, clean } from './taint.ts'

/** What the policies are told of a call. A `Selected` is one. */
export interface Asking {
  readonly principal: PolicyPrincipal
  readonly tool: PolicyTool
  readonly proposal: { readonly origin: { readonly door: Door } }
}

type Ruling =
  | { readonly kind: 'permit'; readonly policies: readonly string[] }
  | { readonly kind: 'deny'; readonly policies: readonly string[] }
  | { readonly kind: 'error'; readonly messages: readonly string[] }

/** What policies can read of a call besides its scopes. */
interface CallContext {
  readonly door: Door
  readonly tainted: boolean
  readonly untrusted: boolean
  readonly suspect: boolean
}

// A list shows what may be called before anything was read.
const untouched = { tainted: false, untrusted: false, suspect: false }

type Pair = Acquaintance<Ruling>

const DOORS = ['gateway', 'host', 'code', 'cli', 'library'] as const satisfies readonly Door[]
// Sixteen principals who list a thousand tools each. Scopes vary without end, so theirs are fewer and bounded in length.
const KEPT_PAIRS = 16_384
const KEPT_SCOPES = 8_192
const LONGEST_KEY = 1_024

/**
 * Cedar behind the two ports that ask "may they?". Whatever is not a clean answer (policies that do not load, a request
 * that does not fit the schema, a policy that fails while it is evaluated) is an error, and an error is a no.
 */
export class CedarPolicies implements Policies, Visibility {
  #checked: Loaded
  #pairs = new Acquaintances<Ruling>(KEPT_PAIRS)
  #scoped = new Recent<string, Ruling>(KEPT_SCOPES)

  /** Policies with a fault do not throw: every decision is an error then, with the messages of `checked`. */
  constructor(texts: readonly PolicyText[]) {
    this.#checked = loadPolicies(texts)
  }

  get version(): Digest {
    return this.#checked.version
  }

  /** What `checkPolicies` says of these policies. */
  get checked(): Loaded {
    return this.#checked
  }

  /** From the next decision on, these. Nothing that was decided before is remembered. */
  replace(texts: readonly PolicyText[]): void {
    this.#checked = loadPolicies(texts)
    this.#pairs = new Acquaintances(KEPT_PAIRS)
    this.#scoped = new Recent(KEPT_SCOPES)
  }

  /** One request with the action `call`, then one for each scope with its access as the action; all must be permitted. */
  decide(
    { principal, tool, proposal }: Asking,
    scopes: readonly Scope[],
    catalogueVersion: number,
    { tainted, untrusted, suspect }: Taint = clean,
  ): PolicyAnswer {
    const door = proposal.origin.door
    const pair = this.#pairs.of(principal, tool)
    const context = { door, tainted, untrusted, suspect }
    const called = this.#call(pair, context, catalogueVersion)
    if (called.kind === 'error') return called
    if (called.kind === 'deny') return { kind: 'deny', policies: called.policies, scope: undefined }
    if (scopes.length === 0) return called

    const policies = new Set(called.policies)
    for (const scope of scopes) {
      const ruling = this.#touch(pair, context, catalogueVersion, scope)
      if (ruling.kind === 'error') return ruling
      if (ruling.kind === 'deny') return { kind: 'deny', policies: ruling.policies, scope }
      for (const policy of ruling.policies) policies.add(policy)
    }
    return { kind: 'permit', policies: [...policies].sort() }
  }

  /** True where the principal may see the tool and call it through one door at least: what is never callable is not seen. */
  sees(principal: PolicyPrincipal, tool: PolicyTool): boolean {
    const pair = this.#pairs.of(principal, tool)
    if (pair.visible !== undefined) return pair.visible
    const see = this.#ask(pair, 'see', {})
    const visible =
      see.kind === 'permit' && DOORS.some((door) => this.#ask(pair, 'call', { door, ...untouched }).kind === 'permit')
    if (see.kind !== 'error') pair.visible = visible
    return visible
  }

  /** May the caller be asked something by the server of this tool, while a call of it is under way? */
  mayAsk({ principal, tool, proposal }: Asking, { kind, mode }: { kind: string; mode: string }): PolicyAnswer {
    const door = proposal.origin.door
    const ruling = this.#ask(this.#pairs.of(principal, tool), 'ask', { door, kind, mode })
    return ruling.kind === 'deny' ? { ...ruling, scope: undefined } : ruling
  }

  #call(pair: Pair, context: CallContext, catalogueVersion: number): Ruling {
    const key = keyOfContext(context)
    const known = pair.calls.get(key)
    if (known?.catalogueVersion === catalogueVersion) return known.ruling
    const ruling = this.#ask(pair, 'call', { ...context })
    if (ruling.kind !== 'error') pair.calls.set(key, { catalogueVersion, ruling })
    return ruling
  }

  #touch(pair: Pair, context: CallContext, catalogueVersion: number, scope: Scope): Ruling {
    const key = `${pair.number}|${catalogueVersion}|${keyOfContext(context)}${keyOf(scope)}`
    const known = this.#scoped.get(key)
    if (known !== undefined) return known
    const { kind, value, within, hardLinked = false } = scope
    const ruling = this.#ask(pair, scope.access, {
      ...context,
      scope: { kind, value, within: [...within], hardLinked },
    })
    if (ruling.kind !== 'error' && key.length <= LONGEST_KEY) this.#scoped.set(key, ruling)
    return ruling
  }

  #ask({ principal, tool }: Pair, action: PolicyAction, context: Context): Ruling {
    if (!this.checked.ok) return { kind: 'error', messages: this.checked.messages }
    // Names of principals, tools and scopes go in as values and never as Cedar text: there is nothing to break out of.
    const asker = { type: principal.kind === 'user' ? 'User' : 'Service', id: principal.id }
    const asked = { type: 'Tool', id: tool.key }
    const { id, kind, tenant, groups, scopes = [] } = principal
    const parents = [{ type: 'Tenant', id: tenant }, ...groups.map((group) => ({ type: 'Group', id: group }))]
    const { effect, risk, declared } = tool.profile
    const attrs = { server: tool.server, name: tool.name, kind: tool.kind, effect, risk, declared }
    try {
      const answer = statefulIsAuthorized({
        principal: asker,
        action: { type: 'Action', id: action },
        resource: asked,
        context,
        entities: [
          { uid: asker, attrs: { id, kind, tenant, scopes: [...scopes] }, parents },
          { uid: asked, attrs, parents: [{ type: 'Server', id: tool.server }] },
        ],
        preparsedPolicySetId: this.version,
        preparsedSchemaName: SCHEMA,
        validateRequest: true,
      })
      return rulingOf(answer)
    } catch (fault) {
      // The binding throws where a text is not well-formed Unicode.
      return { kind: 'error', messages: [String(fault)] }
    }
  }
}

function keyOfContext({ door, tainted, untrusted, suspect }: CallContext): string {
  return tainted || untrusted || suspect ? `${door}:${Number(tainted)}${Number(untrusted)}${Number(suspect)}` : door
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

// Each text with its length before it, so that two different scopes never have one key.
function keyOf({ kind, value, access, within, hardLinked }: Scope): string {
  let key = `|${access}|${kind}|${hardLinked === true}|${value.length}:${value}`
  for (const root of within) key += `${root.length}:${root}`
  return key
}
