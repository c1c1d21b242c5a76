import { newId } from '../../words/id.ts'
import { refuse, type Refusal } from '../../words/verdict.ts'
import type { Approval, Channel, Question } from '../../flow/consent/consented.ts'
import type { Chain } from './chain.ts'
import type { Database, Row } from './database.ts'
import { commitToText, sealText } from './payloads.ts'
import { approvalOf } from './rows.ts'

export function findApproval(db: Database, id: string, now: number): Approval | undefined {
  const row = db.statement('SELECT * FROM approval WHERE approval_id = ?').get(id) as Row | undefined
  return row === undefined ? undefined : approvalOf(db, row, now)
}

/** The newest that still stands for this binding: granted before denied before waiting. */
export function matchingApproval(db: Database, bindingDigest: string, now: number): Approval | undefined {
  const row = db
    .statement(
      `SELECT * FROM approval WHERE binding_digest = ? AND expires_at > ? AND state IN ('granted', 'denied', 'waiting')
       ORDER BY CASE state WHEN 'granted' THEN 0 WHEN 'denied' THEN 1 ELSE 2 END, asked_at DESC LIMIT 1`,
    )
    .get(bindingDigest, now) as Row | undefined
  return row === undefined ? undefined : approvalOf(db, row, now)
}

/** Parks a question. The same question that still stands is not asked twice. */
export function askApproval(
  db: Database,
  chain: Chain,
  question: Question,
  canonicalArguments: string,
  now: number,
): Approval {
  expireApprovals(db, chain, now, question.bindingDigest)
  const standing = matchingApproval(db, question.bindingDigest, now)
  if (standing !== undefined) return standing
  const id = newId('apr', now)
  const { binding } = question
  const sealed = sealText(db, binding, id, 'question', JSON.stringify(question))
  db.statement(
    `INSERT INTO approval(approval_id, tenant, principal, tool, binding_digest, question, arguments, state, asked_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, 'waiting', ?, ?)`,
  ).run(
    id,
    binding.tenant,
    binding.principal,
    binding.tool,
    question.bindingDigest,
    sealed,
    sealText(db, binding, id, 'arguments', canonicalArguments),
    now,
    now + question.rule.expiresMs,
  )
  chain.append(db, {
    kind: 'approval.asked',
    at: now,
    approval: id,
    tenant: binding.tenant,
    principal: binding.principal,
    tool: binding.tool,
    facts: {
      binding: question.bindingDigest,
      rule: question.rule.name,
      // The rule says who may answer, and by which channel; the binding does not hold it.
      question: commitToText(db, id, 'question', sealed)!,
      expiresAt: now + question.rule.expiresMs,
    },
  })
  return findApproval(db, id, now)!
}

export function decideApproval(
  db: Database,
  chain: Chain,
  id: string,
  decision: {
    readonly by: string
    readonly channel: Channel
    readonly granted: boolean
    readonly why: string
  },
  now: number,
): Approval | Refusal {
  const approval = findApproval(db, id, now)
  if (approval === undefined) return refuse('TOOL_UNKNOWN', { approval: id })
  if (approval.state !== 'waiting') return refuse('AUTHORISATION_STALE', { approval: id, state: approval.state })
  db.statement(
    `UPDATE approval SET state = ?, decided_by = ?, channel = ?, why = ?, decided_at = ? WHERE approval_id = ? AND state = 'waiting'`,
  ).run(decision.granted ? 'granted' : 'denied', decision.by, decision.channel, decision.why, now, id)
  const { binding } = approval.question
  chain.append(db, {
    kind: decision.granted ? 'approval.granted' : 'approval.denied',
    at: now,
    approval: id,
    tenant: binding.tenant,
    principal: binding.principal,
    tool: binding.tool,
    facts: {
      by: decision.by,
      channel: decision.channel,
      binding: approval.question.bindingDigest,
      ...(decision.why === '' ? {} : { why: decision.why }),
    },
  })
  return findApproval(db, id, now)!
}

/**
 * Takes back a question, or a yes that nothing has used yet: its time is over now. In one transaction with the intents, so
 * that a call which uses the yes comes wholly before it or is refused.
 */
export function revokeApproval(
  db: Database,
  chain: Chain,
  id: string,
  revocation: { readonly by: string; readonly why: string },
  now: number,
): Approval | Refusal {
  const approval = findApproval(db, id, now)
  if (approval === undefined) return refuse('TOOL_UNKNOWN', { approval: id })
  if (approval.state !== 'waiting' && approval.state !== 'granted')
    return refuse('AUTHORISATION_STALE', { approval: id, state: approval.state })
  db.statement("UPDATE approval SET state = 'expired' WHERE approval_id = ?").run(id)
  const { tenant, principal, tool } = approval.question.binding
  const facts = { by: revocation.by, from: approval.state, ...(revocation.why === '' ? {} : { why: revocation.why }) }
  chain.append(db, { kind: 'approval.revoked', at: now, approval: id, tenant, principal, tool, facts })
  return findApproval(db, id, now)!
}

/** Questions whose time is over: each gets its event once. A hundred at a time, and the one that stands in the way first. */
export function expireApprovals(db: Database, chain: Chain, now: number, bindingDigest: string): void {
  const over = db
    .statement(
      `SELECT * FROM approval WHERE state IN ('waiting', 'granted') AND expires_at <= ?
       ORDER BY binding_digest = ? DESC LIMIT 100`,
    )
    .all(now, bindingDigest) as Row[]
  for (const row of over) {
    db.statement("UPDATE approval SET state = 'expired' WHERE approval_id = ?").run(String(row['approval_id']))
    chain.append(db, {
      kind: 'approval.expired',
      at: now,
      approval: String(row['approval_id']),
      tenant: String(row['tenant']),
      principal: String(row['principal']),
      tool: String(row['tool']),
    })
  }
}

export function listApprovals(
  db: Database,
  { states = approvalStates, limit }: { readonly states?: readonly Approval['state'][]; readonly limit: number },
  now: number,
): readonly Approval[] {
  // A row says `waiting` until somebody looks after its time: what it is now decides, in the query.
  const rows = db
    .statement(
      `SELECT * FROM (SELECT *, CASE WHEN state IN ('waiting', 'granted') AND expires_at <= ? THEN 'expired' ELSE state END AS now
       FROM approval) WHERE now IN (${states.map(() => '?').join(', ')}) ORDER BY asked_at DESC LIMIT ?`,
    )
    .all(now, ...states, limit) as Row[]
  return rows.flatMap((row) => approvalOf(db, row, now) ?? [])
}

const approvalStates: readonly Approval['state'][] = ['waiting', 'granted', 'denied', 'used', 'expired']
