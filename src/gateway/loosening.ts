import { isDeepStrictEqual } from 'node:util'
import type { Config } from '../config/config.ts'
import type { Budget } from '../flow/budget/accounts.ts'
import { undeclared, type ToolProfile } from '../flow/tool/profile.ts'

const effects = ['once', 'keyed', 'idempotent', 'read'] as const
const risks = ['high', 'medium', 'low'] as const

/**
 * What a new configuration might let through that the old one did not, in words. In doubt it does: that two policies say
 * the same is not decided here.
 */
export function loosenings(
  before: Config,
  after: Config,
  policies: { readonly before: string; readonly after: string },
): readonly string[] {
  return [
    ...(policies.before === policies.after ? [] : ['policy']),
    ...ruleLoosenings(before, after),
    ...before.budgets.flatMap((budget) => budgetLoosenings(budget, after.budgets)),
    ...after.servers.flatMap(({ spec, tools, asks }) => {
      const old = before.servers.find((it) => it.spec.name === spec.name)
      // What a new server says is in quarantine, whatever is declared of its tools.
      if (old === undefined) return []
      const names = new Set([...tools.keys(), ...old.tools.keys()])
      return [
        ...(isDeepStrictEqual(old.asks, asks) ? [] : [`servers.${spec.name}.asks`]),
        ...[...names]
          .filter((name) => isLooser(old.tools.get(name) ?? undeclared, tools.get(name) ?? undeclared))
          .map((name) => `servers.${spec.name}.tools.${name}`),
      ]
    }),
  ]
}

/** Rules are tried in their order: only one that asks or denies, put before all others, takes nothing away from them. */
function ruleLoosenings({ consent: before }: Config, { consent: after }: Config): readonly string[] {
  const added = after.rules.length - before.rules.length
  const kept = added >= 0 && isDeepStrictEqual(after.rules.slice(added), before.rules)
  const stricter = kept && after.rules.slice(0, added).every((rule) => rule.decision === 'deny')
  return stricter ? [] : ['consent.rules']
}

function budgetLoosenings(budget: Budget, after: readonly Budget[]): readonly string[] {
  const now = after.find((it) => it.name === budget.name)
  const limits = ['calls', 'wallMs', 'resultBytes', 'sameCall', 'concurrency'] as const
  const same = now?.per === budget.per && now.windowMs >= budget.windowMs && isDeepStrictEqual(now.match, budget.match)
  const kept = same && limits.every((limit) => (now[limit] ?? Infinity) <= (budget[limit] ?? Infinity))
  return kept ? [] : [`budgets.${budget.name}`]
}

function isLooser(before: ToolProfile, after: ToolProfile): boolean {
  if (effects.indexOf(after.effect) > effects.indexOf(before.effect)) return true
  if (risks.indexOf(after.risk) > risks.indexOf(before.risk)) return true
  const rest = ({ effect: _effect, risk: _risk, ...profile }: ToolProfile): object => profile
  return before.declared && !isDeepStrictEqual(rest(before), rest(after))
}
