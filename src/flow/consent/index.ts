import { ask, pass, refuse, type Verdict } from '../../words/verdict.ts'
import type { Gate } from '../gate.ts'
import type { Scoped } from '../resource/scoped.ts'
import type { Approvals, Consented, ConsentRule, History, Question } from './consented.ts'
import { questionOf } from './question.ts'
import { ruleFor } from './rules.ts'

export interface ConsentNeeds {
  readonly rules: readonly ConsentRule[]
  readonly approvals: Approvals
  readonly history: History
  readonly now: () => number
}

/** Gate 4: a rule that says no yes is needed, or an unused, unexpired yes that is bound to exactly this call. */
export const consent: Gate<Scoped, Consented, ConsentNeeds, Question> = {
  name: 'consent',
  judge: (scoped, needs): Verdict<Consented, Question> => {
    const rule = ruleFor(scoped, needs.rules)
    if (rule.decision === 'deny') return refuse('CONSENT_RULE_DENIES', { rule: rule.name })
    const named = needs.history.underKey(scoped)
    if (named !== undefined) {
      const next = { ...scoped, consent: { kind: 'under-key', operation: named } as const, repeatOf: undefined }
      return pass(next, { rule: rule.name, underKey: named })
    }
    const now = needs.now()
    const earlier = needs.history.earlier(scoped, now)
    if (earlier?.standing === 'unknown')
      return refuse('OUTCOME_UNKNOWN', { operation: earlier.operation, state: earlier.state })
    if (earlier?.standing === 'running') {
      // The side-effect gate says so too, from inside its transaction; here it spares a person a question.
      return refuse('IN_PROGRESS', { operation: earlier.operation, state: earlier.state })
    }
    const repeats = earlier !== undefined && scoped.tool.profile.repeat === 'ask'
    if (rule.decision === 'allow' && !repeats) {
      const next = {
        ...scoped,
        consent: { kind: 'not-needed', rule: rule.name } as const,
        repeatOf: earlier?.operation,
      }
      return pass(next, { rule: rule.name, decision: 'allow' })
    }
    const question = questionOf(scoped, rule, repeats ? earlier : undefined)
    const approval = needs.approvals.matching(question.bindingDigest, now)
    if (approval?.state === 'granted') {
      const { id, by, channel } = approval
      const next = {
        ...scoped,
        consent: { kind: 'approved', approval: id, by, channel } as const,
        repeatOf: earlier?.operation,
      }
      return pass(next, { rule: rule.name, approval: id, by, channel, binding: question.bindingDigest })
    }
    if (approval?.state === 'denied')
      return refuse('APPROVAL_DENIED', { approval: approval.id, by: approval.by, why: approval.why })
    return ask(question, {
      rule: rule.name,
      ...(approval === undefined ? {} : { approval: approval.id }),
      ...(repeats ? { repeatOf: earlier.operation } : {}),
    })
  },
}

export { globMatches, ruleFor, unruled } from './rules.ts'
export { questionOf } from './question.ts'
