import type { Verdict } from '../words/verdict.ts'
import type { StepName } from './order.ts'

/** `judge` is a property and not a method, so that the compiler checks the order of the gates. */
export interface Gate<In, Out, Needs, Question = never> {
  readonly name: StepName
  readonly judge: (
    subject: In,
    needs: Needs,
    signal: AbortSignal,
  ) => Verdict<Out, Question> | Promise<Verdict<Out, Question>>
}
