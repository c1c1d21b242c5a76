import {
  type Attributes,
  context,
  type Histogram,
  metrics as otelMetrics,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Answer, Caller, CallRequest, Flow } from '../flow/answer.ts'
import type { Step } from '../flow/line.ts'
import type { TraceContext } from '../flow/receipt/receipt.ts'
import { durationBuckets, gateBuckets, names } from './names.ts'
import { Metrics } from './prometheus.ts'

const MOST_WAITING = 10_000
const traceparentForm = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}/

/** One call that is over. It holds no arguments and no result. */
export interface Finished {
  readonly tool: string
  readonly door: string
  readonly outcome: Answer['kind'] | 'fault'
  readonly code?: string
  readonly operation?: string
  readonly seconds: number
  readonly steps: readonly Step[]
}

/**
 * What calls are seen by: metrics of our own, spans and metrics of OpenTelemetry where a program has registered an SDK, and
 * whoever listens. A call leaves a note and goes on; what is made of it is made afterwards.
 */
export class Observatory {
  readonly metrics = new Metrics()
  readonly #tracer = trace.getTracer('countersign')
  readonly #otel: { readonly server: Histogram; readonly tool: Histogram; readonly gate: Histogram }
  readonly #calls = this.metrics.counter('countersign.calls', 'Calls by their end')
  readonly #server = this.metrics.histogram(
    names.serverDuration,
    'Seconds that a call took, gates and upstream included',
    durationBuckets,
  )
  readonly #gate = this.metrics.histogram(names.gateDuration, 'Seconds that a gate took', gateBuckets)
  readonly #dropped = this.metrics.counter('countersign.telemetry.dropped', 'Calls that came too fast to be observed')
  readonly #listeners = new Set<(finished: Finished) => void>()
  #waiting: (() => void)[] = []

  constructor() {
    const meter = otelMetrics.getMeter('countersign')
    const advice = (explicitBucketBoundaries: readonly number[]) => ({
      unit: 's',
      advice: { explicitBucketBoundaries: [...explicitBucketBoundaries] },
    })
    this.#otel = {
      server: meter.createHistogram(names.serverDuration, advice(durationBuckets)),
      tool: meter.createHistogram(names.executeDuration, advice(durationBuckets)),
      gate: meter.createHistogram(names.gateDuration, advice(gateBuckets)),
    }
  }

  /** The same flow, observed. */
  over(flow: Flow): Flow {
    return {
      check: (request, signal) => flow.check(request, signal),
      call: async (request, caller, signal) => {
        const began = performance.now()
        const span = this.#begin(request, caller)
        const traced = span.isRecording() ? { ...caller, trace: traceOf(span, caller.trace) } : caller
        try {
          const answer = await flow.call(request, traced, signal)
          this.#later(request, span, began, answer)
          return answer
        } catch (fault) {
          this.#later(request, span, began, undefined)
          throw fault
        }
      },
    }
  }

  onFinished(listener: (finished: Finished) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  // SEP-414: what came in `_meta` is the parent; an HTTP span around it would only be linked.
  #begin({ target, origin }: CallRequest, { trace: given }: Caller): Span {
    const parent = given === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, given)
    const within = given?.traceparent === undefined ? ROOT_CONTEXT : parentOf(given.traceparent, parent)
    return this.#tracer.startSpan(
      `tools/call ${toolOf(target)}`,
      {
        kind: SpanKind.SERVER,
        attributes: {
          [names.method]: 'tools/call',
          [names.operation]: 'execute_tool',
          [names.tool]: toolOf(target),
          [names.door]: origin.door,
        },
      },
      within,
    )
  }

  #later(request: CallRequest, span: Span, began: number, answer: Answer | undefined): void {
    const ended = Date.now()
    const seconds = (performance.now() - began) / 1000
    if (this.#waiting.length >= MOST_WAITING) {
      this.#dropped.add({})
      return
    }
    if (this.#waiting.length === 0) setImmediate(() => this.#drain())
    this.#waiting.push(() => this.#note(request, span, seconds, ended, answer))
  }

  #drain(): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const note of waiting) note()
  }

  #note({ target, origin }: CallRequest, span: Span, seconds: number, ended: number, answer: Answer | undefined): void {
    const finished = finishedOf(toolOf(target), origin.door, seconds, answer)
    const { tool, outcome, code, steps } = finished
    // A name that no gate knows is the caller's invention.
    const label = steps.some((it) => it.step === 'tool' && it.verdict === 'pass') ? tool : 'unknown'
    this.#calls.add({ tool: label, outcome, code: code ?? '' })
    this.#server.record({ mcp_method_name: 'tools/call', gen_ai_tool_name: label }, seconds)
    const attributes: Attributes = { [names.method]: 'tools/call', [names.tool]: label, ...errorOf(finished) }
    this.#otel.server.record(seconds, attributes)
    this.#otel.tool.record(seconds, attributes)
    for (const { step, verdict, micros } of steps) {
      this.#gate.record({ gate: step, verdict }, micros / 1e6)
      this.#otel.gate.record(micros / 1e6, { [names.gate]: step, [names.verdict]: verdict })
    }
    if (span.isRecording()) endSpan(span, finished, ended)
    for (const listener of this.#listeners) listener(finished)
  }
}

function finishedOf(tool: string, door: string, seconds: number, answer: Answer | undefined): Finished {
  if (answer === undefined) return { tool, door, outcome: 'fault', seconds, steps: [] }
  const { kind, steps } = answer
  const operation = 'operation' in answer && answer.operation !== undefined ? { operation: answer.operation } : {}
  return {
    tool,
    door,
    outcome: kind,
    seconds,
    steps,
    ...operation,
    ...(kind === 'refused' ? { code: answer.code } : {}),
  }
}

function endSpan(span: Span, { outcome, code, operation, steps, ...rest }: Finished, ended: number): void {
  span.setAttributes({
    [names.outcome]: outcome,
    ...(code === undefined ? {} : { [names.refusal]: code }),
    ...(operation === undefined ? {} : { [names.operationId]: operation }),
    ...errorOf({ outcome, steps, ...rest, ...(code === undefined ? {} : { code }) }),
  })
  for (const { step, verdict, code: said, micros } of steps)
    span.addEvent(names.gate, {
      [names.gate]: step,
      [names.verdict]: verdict,
      ...(said === undefined ? {} : { [names.refusal]: said }),
      'countersign.micros': micros,
    })
  if (outcome !== 'answered') span.setStatus({ code: SpanStatusCode.ERROR, message: code ?? outcome })
  span.end(ended)
}

function errorOf({ outcome, code }: Finished): Attributes {
  return outcome === 'answered'
    ? {}
    : { [names.error]: code ?? (outcome === 'upstream-error' ? 'tool_error' : outcome) }
}

function parentOf(traceparent: string, extracted: typeof ROOT_CONTEXT): typeof ROOT_CONTEXT {
  // Without a registered propagator nothing is extracted; the format is W3C's either way.
  if (trace.getSpanContext(extracted) !== undefined || !traceparentForm.test(traceparent)) return extracted
  const [, traceId, spanId, flags] = traceparent.split('-')
  const spanContext = { traceId: traceId!, spanId: spanId!, traceFlags: Number.parseInt(flags!, 16), isRemote: true }
  return trace.setSpanContext(context.active(), spanContext)
}

/** Our span is the parent of what the upstream does; the rest of what the caller sent goes on as it came. */
function traceOf(span: Span, given: TraceContext | undefined): TraceContext {
  const { traceId, spanId, traceFlags } = span.spanContext()
  return { ...given, traceparent: `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, '0')}` }
}

function toolOf(target: CallRequest['target']): string {
  switch (target.kind) {
    case 'tool':
      return 'exported' in target ? target.exported : `${target.server}/${target.name}`
    case 'prompt':
      return target.exported
    case 'resource':
      // A URI may hold anything, and is on no span by default.
      return 'resource'
    default:
      return target satisfies never
  }
}
