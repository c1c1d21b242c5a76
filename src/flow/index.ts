import type { Refusal, Verdict } from '../words/verdict.ts'
import { refuse } from '../words/verdict.ts'
import { action, type AuthorisedAction } from './action/index.ts'
import type { Answer, Caller, CallRequest, Flow } from './answer.ts'
import { budget } from './budget/index.ts'
import type { Approval, Question } from './consent/consented.ts'
import { consent } from './consent/index.ts'
import { conduct } from './conduct.ts'
import { begin, type Step } from './line.ts'
import type { FlowNeeds } from './needs.ts'
import { principal } from './principal/index.ts'
import type { Presented } from './principal/principal.ts'
import { propose } from './proposal/index.ts'
import type { Proposal } from './proposal/proposal.ts'
import { resource } from './resource/index.ts'
import { LedgerFault } from './side-effect/ledger.ts'
import { tool } from './tool/index.ts'
import { turnAway } from './turn-away.ts'

/** Gates 1 to 5 and the minting. Swap two, and it does not compile. */
const beforeTheCall = begin<Presented>()
  .through(principal)
  .through(tool)
  .through(resource)
  .through(consent)
  .through(budget)
  .through(action)

/** What can be judged without taking a hold, claiming a key or asking anybody. */
const withoutTaking = begin<Presented>().through(principal).through(tool).through(resource).through(consent)

// A person may change their mind, a tool its definition: a call is judged anew after each yes, and not for ever.
const ROUNDS = 4

export function createFlow(needs: FlowNeeds): Flow {
  return {
    call: (request, caller, signal) => call(request, caller, signal, needs),
    check: async (request, signal) => {
      const steps: Step[] = []
      const proposal = take(request, needs, steps)
      if (!('code' in proposal))
        await withoutTaking.run({ proposal, credential: request.credential }, needs, signal, steps)
      return { steps }
    },
  }
}

async function call(request: CallRequest, caller: Caller, signal: AbortSignal, needs: FlowNeeds): Promise<Answer> {
  const steps: Step[] = []
  const proposal = take(request, needs, steps)
  if ('code' in proposal) return turnAway(proposal, steps, undefined, needs)
  needs.at?.('proposed')
  const subject: Presented = { proposal, credential: request.credential }
  const first = steps.length
  for (let round = 1; ; round++) {
    steps.length = first
    const running = beforeTheCall.run(subject, needs, signal, steps)
    const verdict: Verdict<AuthorisedAction, Question> = running instanceof Promise ? await running : running
    if (verdict.kind === 'refuse') return turnAway(verdict, steps, proposal, needs)
    if (verdict.kind === 'pass') {
      // A yes runs only while somebody is there to hear what came of it; otherwise the same call, repeated, takes it up.
      const left = signal.aborted || (round > 1 && caller.attached === false)
      if (!left) return conduct(verdict.next, caller, needs, steps, signal)
      verdict.next.hold.release()
      return turnAway(refuse('CALLER_LEFT'), steps, proposal, needs)
    }
    const answered = await askPerson(verdict.question, proposal, caller, needs, signal)
    if ('code' in answered) return turnAway(answered, steps, proposal, needs)
    if (answered.state === 'waiting' && caller.consent === 'defer') return { kind: 'asked', approval: answered, steps }
    if (answered.state === 'denied') {
      const { id, by, why } = answered
      return turnAway(refuse('APPROVAL_DENIED', { approval: id, by, why }), steps, proposal, needs)
    }
    if (round >= ROUNDS)
      return turnAway(refuse('AUTHORISATION_STALE', { approval: answered.id, rounds: round }), steps, proposal, needs)
    // Granted: nothing is taken over from before. What changed while a person was thinking is caught by the same gates.
  }
}

function take(request: CallRequest, needs: FlowNeeds, steps: Step[]): Proposal | Refusal {
  const began = performance.now()
  const verdict = propose(request, needs.limits, needs.now(), ownArgument(request, needs))
  const micros = Math.round((performance.now() - began) * 1000)
  if (verdict.kind === 'pass') {
    steps.push({ step: 'proposal', verdict: 'pass', facts: verdict.facts, micros })
    return verdict.next
  }
  steps.push({ step: 'proposal', verdict: 'refuse', code: verdict.code, facts: verdict.facts, micros })
  return verdict
}

// Models make a new key for each try, which would make each try a new payment (square/square-mcp-server#31).
function ownArgument({ target }: CallRequest, { catalogue }: FlowNeeds): string | undefined {
  const found = catalogue.find(target)
  if (found.state !== 'approved') return undefined
  const { effect, upstreamKey } = found.tool.profile
  return effect !== 'read' && upstreamKey?.in === 'argument' ? upstreamKey.name : undefined
}

/** Parks the question and waits for somebody; the parked question outlives this wait. */
async function askPerson(
  question: Question,
  proposal: Proposal,
  caller: Caller,
  needs: FlowNeeds,
  signal: AbortSignal,
): Promise<Approval | Refusal> {
  const { desk, ledger, consentWaitMs } = needs
  const { rule } = question
  const elicit = rule.channels.includes('elicitation') ? caller.elicit : undefined
  const deferred = caller.consent === 'defer' && rule.channels.includes('elicitation')
  if (elicit === undefined && !deferred && !rule.channels.some((channel) => desk.reachable(channel)))
    return refuse('APPROVER_MISSING', { rule: rule.name, channels: [...rule.channels] })
  let approval: Approval
  try {
    approval = await ledger.ask(question, proposal.canonical, needs.now())
  } catch (fault) {
    if (fault instanceof LedgerFault) return refuse(fault.code, { why: fault.message })
    throw fault
  }
  desk.announce(approval)
  if (deferred) return approval
  caller.progress?.(`waiting for an approval: ${approval.id}`)
  const over = new AbortController()
  const stop = (): void => over.abort()
  signal.addEventListener('abort', stop, { once: true })
  try {
    if (elicit !== undefined) void askCaller(approval, elicit, question, needs, over.signal)
    // A question that has expired cannot be answered: nobody is kept waiting for that.
    const left = Math.max(0, approval.expiresAt - needs.now())
    const answered = await desk.wait(approval.id, Math.min(caller.consentWaitMs ?? consentWaitMs, left), signal)
    if (answered !== undefined && answered.state !== 'expired') return answered
    if (signal.aborted) return refuse('CALLER_LEFT', { approval: approval.id })
    return approval.expiresAt <= needs.now() ? refuse('APPROVAL_EXPIRED', { approval: approval.id }) : waiting(approval)
  } finally {
    signal.removeEventListener('abort', stop)
    over.abort()
  }
}

function waiting({ id, expiresAt }: Approval): Refusal {
  return refuse('APPROVAL_WAITING', {
    approval: id,
    until: new Date(expiresAt).toISOString(),
    answer: `countersign approval approve ${id}`,
  })
}

// The client's user is one of those who may answer; whether their yes counts is the desk's decision, by the rule.
async function askCaller(
  approval: Approval,
  elicit: NonNullable<Caller['elicit']>,
  { binding }: Question,
  { desk }: FlowNeeds,
  signal: AbortSignal,
): Promise<void> {
  try {
    const said = await elicit(approval, signal)
    if (said === undefined || said === 'cancel') return
    const decision = { by: binding.principal, channel: 'elicitation', granted: said === 'accept', why: '' } as const
    await desk.answer(approval.id, decision)
  } catch {
    // The client went away, or the ledger cannot be written: the question stands for the other channels.
  }
}

export type { Answer, Caller, CallRequest, Flow } from './answer.ts'
export type { FlowNeeds } from './needs.ts'
export { order, type StepName } from './order.ts'
export { type Point, points } from './points.ts'
