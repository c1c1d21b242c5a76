import type { Scoped } from '../resource/scoped.ts'
import type { ConsentRule } from './consented.ts'

/** `*` stands for anything, also for nothing; all else is literal. Linear: no expression is built from an operator's text. */
export function globMatches(glob: string, text: string): boolean {
  const [first, ...rest] = glob.split('*')
  if (rest.length === 0) return glob === text
  if (!text.startsWith(first!)) return false
  let at = first!.length
  const last = rest.pop()!
  for (const part of rest) {
    const found = text.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return text.length - last.length >= at && text.endsWith(last)
}

/** The rule of last resort: nothing was declared for this call, so a person is asked. */
export const unruled: ConsentRule = Object.freeze({
  name: 'default',
  decision: 'ask',
  channels: ['terminal', 'cli', 'console'] as const,
  selfApproval: false,
  expiresMs: 600_000,
})

/** The first rule of the list that matches; `unruled` where none does. */
export function ruleFor(scoped: Scoped, rules: readonly ConsentRule[]): ConsentRule {
  for (const rule of rules) if (matches(rule, scoped)) return rule
  return unruled
}

function matches(rule: ConsentRule, { tool, principal, proposal, taint }: Scoped): boolean {
  return (
    (rule.tool === undefined || globMatches(rule.tool, tool.key)) &&
    (rule.effect === undefined || rule.effect.includes(tool.profile.effect)) &&
    (rule.risk === undefined || rule.risk.includes(tool.profile.risk)) &&
    (rule.principal === undefined || globMatches(rule.principal, principal.id)) &&
    (rule.door === undefined || rule.door.includes(proposal.origin.door)) &&
    (rule.after === undefined || rule.after.some((what) => taint?.[what] === true))
  )
}
