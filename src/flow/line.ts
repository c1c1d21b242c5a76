import type { Facts, Verdict } from '../words/verdict.ts'
import type { RefusalCode } from '../words/refusals.ts'
import type { Gate } from './gate.ts'
import type { StepName } from './order.ts'

/** What one gate said of one proposal: the row that the terminal, the console and the evidence show. */
export interface Step {
  readonly step: StepName
  readonly verdict: 'pass' | 'ask' | 'refuse'
  readonly code?: RefusalCode
  readonly facts: Facts
  /** Time spent in the gate, in microseconds. */
  readonly micros: number
}

/** Gates in a row. `through` is not called `then`, which would make the line awaitable by accident. */
export interface Line<In, Out, Needs, Question> {
  through<Next, More, Asked = never>(gate: Gate<Out, Next, More, Asked>): Line<In, Next, Needs & More, Question | Asked>
  /** Stops at the first gate that does not pass. Each gate's step is pushed to `steps`. */
  run(
    subject: In,
    needs: Needs,
    signal: AbortSignal,
    steps: Step[],
  ): Verdict<Out, Question> | Promise<Verdict<Out, Question>>
}

// The list of gates has lost its types: `through` is what proved that they fit.
type Untyped = Gate<unknown, unknown, unknown, unknown>

export function begin<Subject>(): Line<Subject, Subject, unknown, never> {
  return lineOf([]) as Line<Subject, Subject, unknown, never>
}

function lineOf(gates: readonly Untyped[]): Line<unknown, unknown, unknown, unknown> {
  return {
    through: (gate) => lineOf([...gates, gate as Untyped]) as never,
    run: (subject, needs, signal, steps) => walk(gates, 0, subject, needs, signal, steps),
  }
}

// Synchronous as long as the gates are: a promise per gate would cost more than most gates do.
function walk(
  gates: readonly Untyped[],
  from: number,
  subject: unknown,
  needs: unknown,
  signal: AbortSignal,
  steps: Step[],
): Verdict<unknown, unknown> | Promise<Verdict<unknown, unknown>> {
  let current: Verdict<unknown, unknown> = { kind: 'pass', next: subject, facts: {} }
  for (let n = from; n < gates.length; n++) {
    if (current.kind !== 'pass') return current
    const gate = gates[n]!
    const began = performance.now()
    const answer = gate.judge(current.next, needs, signal)
    if (answer instanceof Promise) {
      return answer.then((verdict) => {
        steps.push(stepOf(gate.name, verdict, began))
        return verdict.kind === 'pass' ? walk(gates, n + 1, verdict.next, needs, signal, steps) : verdict
      })
    }
    steps.push(stepOf(gate.name, answer, began))
    current = answer
  }
  return current
}

function stepOf(step: StepName, verdict: Verdict<unknown, unknown>, began: number): Step {
  const micros = Math.round((performance.now() - began) * 1000)
  return verdict.kind === 'refuse'
    ? { step, verdict: 'refuse', code: verdict.code, facts: verdict.facts, micros }
    : { step, verdict: verdict.kind, facts: verdict.facts, micros }
}
