import { canonical } from '../../words/canonical.ts'
import { type Digest, digest } from '../../words/digest.ts'
import type { Json } from '../../words/json.ts'
import { type Facts, type Verdict, pass, refuse } from '../../words/verdict.ts'
import type { Gate } from '../gate.ts'
import type { Catalogue, Selected } from '../tool/selected.ts'
import { shown } from './plain-text.ts'
import type { Policies, Scope, Scoped, Scopes } from './scoped.ts'
import { type Taint, type Taints, clean } from './taint.ts'
import { withoutQuery } from './url.ts'

const LISTED = 16
const NO_SCOPES = digest('[]')

export interface ResourceNeeds {
  readonly scopes: Scopes
  readonly policies: Policies
  readonly catalogue: Catalogue
  /** Absent: values are not followed. */
  readonly taints?: Taints
}

/** What does the call touch, and may this principal do that to it? */
export const resource: Gate<Selected, Scoped, ResourceNeeds> = {
  name: 'resource',
  judge: (selected, { scopes: resolver, policies, catalogue, taints }): Verdict<Scoped> => {
    const scopes = resolver.resolve(selected)
    if ('kind' in scopes) return scopes
    const taint = taints?.of(selected.principal, selected.proposal.arguments) ?? clean
    const followed = taint === clean ? {} : { taint }
    const answer = policies.decide(selected, scopes, catalogue.version, taint)
    switch (answer.kind) {
      case 'permit': {
        const scopesDigest = digestOf(scopes)
        const policyVersion = policies.version
        return pass(
          { ...selected, scopes, scopesDigest, policyVersion, ...followed },
          { scopes: listed(scopes), scopesDigest, policies: answer.policies, policyVersion, ...factsOfTaint(taint) },
        )
      }
      case 'deny':
        return refuse('POLICY_DENIED', {
          action: answer.scope?.access ?? 'call',
          ...(answer.scope === undefined ? {} : { scope: factsOf(answer.scope) }),
          // None where nothing permits it; otherwise those that forbid it.
          policies: answer.policies,
          policyVersion: policies.version,
          ...factsOfTaint(taint),
          scopes: listed(scopes),
        })
      case 'error':
        return refuse('POLICY_ERROR', {
          messages: answer.messages.slice(0, 5).map((message) => shown(message, 300)),
          policyVersion: policies.version,
        })
      default:
        return answer satisfies never
    }
  },
}

// Recorded only where there is something to say: most calls have to do with nothing that was read.
function factsOfTaint({ tainted, suspect, values }: Taint): Facts {
  return {
    ...(tainted ? { tainted: values.map((value) => shown(value, 200)) } : {}),
    ...(suspect ? { afterSuspect: true } : {}),
  }
}

function digestOf(scopes: readonly Scope[]): Digest {
  return scopes.length === 0 ? NO_SCOPES : digest(canonical(scopes as unknown as Json))
}

// The digest covers them all; the record shows as many as a person reads.
function listed(scopes: readonly Scope[]): readonly Json[] {
  const shorter: Json[] = scopes.slice(0, LISTED).map(factsOf)
  return scopes.length > LISTED ? [...shorter, `and ${scopes.length - LISTED} more`] : shorter
}

function factsOf({ kind, value, access, within, hardLinked }: Scope): Facts {
  return {
    kind,
    value: kind === 'url' ? withoutQuery(value) : value,
    access,
    ...(within.length === 0 ? {} : { within }),
    ...(hardLinked === true ? { hardLinked } : {}),
  }
}
