import type { ApprovalView, BudgetAccount, CallReport, OperationView, RefusalView } from '../../api/contract.ts'
import type { Answer } from '../../flow/answer.ts'
import type { AccountView } from '../../flow/budget/index.ts'
import type { Approval } from '../../flow/consent/consented.ts'
import type { OperationRow } from '../../flow/side-effect/ledger.ts'
import { refusals } from '../../words/refusals.ts'
import type { Refusal } from '../../words/verdict.ts'

type Defined<Value> = { [Key in keyof Value]: Exclude<Value[Key], undefined> }

/** Without the members that are undefined: the contract knows absent, and not undefined. */
function present<Value extends object>(value: Value): Partial<Defined<Value>> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined)) as Partial<Defined<Value>>
}

export function refusalView({ code, facts }: Refusal): RefusalView {
  const { say, next } = refusals[code]
  return { kind: 'refused', code, say, next, facts }
}

/** `canonicalArguments` is what the approver is shown and what will be sent. */
export function approvalView(approval: Approval, canonicalArguments: string): ApprovalView {
  const { id, question, askedAt, expiresAt, ...answer } = approval
  const { binding, rule, text, callId } = question
  return {
    id,
    tool: binding.tool,
    principal: binding.principal,
    tenant: binding.tenant,
    risk: binding.risk,
    rule: rule.name,
    channels: rule.channels,
    selfApproval: rule.selfApproval,
    text,
    arguments: canonicalArguments,
    askedAt,
    expiresAt,
    ...present({ approvers: rule.approvers, callId, repeatOf: binding.repeatOf }),
    ...answer,
  }
}

export function operationView(row: OperationRow): OperationView {
  const { standing, requestKey, approval, repeatOf, why, dispatchedAt, nextDueAt, ...others } = row
  const { errorKind, receiptRef, reverses, compensatedBy, ...rest } = others
  const known = { standing, requestKey, approval, repeatOf, why, dispatchedAt, nextDueAt }
  return { ...rest, ...present({ ...known, errorKind, receiptRef, reverses, compensatedBy }) }
}

export function budgetAccountView({ limits, ...account }: AccountView): BudgetAccount {
  const { windowMs, calls, wallMs, resultBytes, sameCall, concurrency } = limits
  return { ...account, limits: { windowMs, ...present({ calls, wallMs, resultBytes, sameCall, concurrency }) } }
}

/** JSON text of the CallReport. The result is spliced in as it came, so that no reader in between can change it. */
export function reportBytes(answer: Answer): Buffer {
  if (answer.kind !== 'answered') return Buffer.from(JSON.stringify(reportOf(answer)))
  const { accepted, ...rest } = answer
  const head = JSON.stringify({ ...rest, isError: accepted.isError, remarks: accepted.remarks })
  return Buffer.concat([Buffer.from(`${head.slice(0, -1)},"result":`), accepted.bytes, Buffer.from('}')])
}

function reportOf(answer: Exclude<Answer, { kind: 'answered' }>): Exclude<CallReport, { kind: 'answered' }> {
  switch (answer.kind) {
    case 'refused': {
      const { operation, approval } = answer
      const { say, next } = refusals[answer.code]
      const about = {
        ...(operation === undefined ? {} : { operation }),
        ...(approval === undefined ? {} : { approval }),
      }
      return { kind: 'refused', code: answer.code, say, next, facts: answer.facts, ...about, steps: answer.steps }
    }
    case 'asked': {
      // A caller by this door waits and is not asked to come again; should it be, it is a question without an answer yet.
      const { say, next } = refusals.APPROVAL_WAITING
      const { id } = answer.approval
      return {
        kind: 'refused',
        code: 'APPROVAL_WAITING',
        say,
        next,
        facts: { approval: id },
        approval: id,
        steps: answer.steps,
      }
    }
    case 'upstream-error':
    case 'unknown':
      return answer
    default:
      return answer satisfies never
  }
}
