import { member } from '../../words/json.ts'
import { type Facts, type Refusal, pass, refuse } from '../../words/verdict.ts'
import type { Gate } from '../gate.ts'
import type { Taints } from '../resource/taint.ts'
import type { Accepted, Received, Remarks, Spill } from './accepted.ts'
import { excerptOf } from './excerpt.ts'
import { type ResultLimits, roomFor } from './limits.ts'
import { piecesOf } from './pieces.ts'
import { type Masked, maskSecrets } from './secrets.ts'
import { shapeOf, within } from './shape.ts'
import { type Sign, signsIn } from './signs.ts'
import { ordersIn } from './wording/index.ts'

const ORDERS: Sign = 'orders-to-a-model'

export interface ResultNeeds {
  readonly spill: Spill
  readonly limits: ResultLimits
  /** Told of what comes from a server that nobody vouches for. Absent: nothing is followed. */
  readonly taints?: Pick<Taints, 'learn'>
}

/**
 * Judges what a tool, prompt or resource gave back before a model or a client sees it. The raw outcome is on record by
 * now, and the effect is in the world: a refusal holds back an answer, and undoes nothing. A result in which nothing has
 * to change leaves as the very bytes that came.
 */
export const result: Gate<Received, Accepted, ResultNeeds> = {
  name: 'result',
  judge: (received, { spill, limits, taints }) => {
    const { action, receipt } = received
    const { tool } = action
    const { bytes, value } = receipt
    if (bytes.length > limits.hardBytes) {
      return no(received, 'RESULT_TOO_LARGE', { bytes: bytes.length, limit: limits.hardBytes })
    }
    // An object or array takes two bytes at least, so that small results need not be walked.
    if (bytes.length > limits.depth * 2 && !within(value, limits.depth)) {
      return no(received, 'RESULT_TOO_LARGE', { bytes: bytes.length, depthLimit: limits.depth })
    }
    const shape = shapeOf(tool.kind, value, limits.allowedTypes?.get(tool.key))
    if (!shape.ok) return no(received, 'RESULT_TYPE_REFUSED', { at: shape.at, why: shape.why })

    const isError = member(value, 'isError') === true
    const checked = !isError && tool.checkResult !== undefined
    if (checked) {
      const wrong = Object.hasOwn(value, 'structuredContent')
        ? tool.checkResult(value['structuredContent'])
        : ['/structuredContent: missing']
      if (wrong.length > 0) return no(received, 'RESULT_SCHEMA_MISMATCH', { wrong })
    }

    const searched = piecesOf(bytes, value, shape.types)
    const signs = ordersIn(value) ? [...signsIn(searched), ORDERS] : signsIn(searched)
    if (tool.profile.results !== 'trusted') taints?.learn(action.principal, value, signs.length > 0)
    const { secrets } = tool.profile
    const clean: Masked = secrets === 'keep' ? { bytes, value, masked: [] } : maskSecrets(bytes, value, searched.pieces)
    if (secrets === 'refuse' && clean.masked.length > 0) {
      return no(received, 'RESULT_SECRET', { rules: clean.masked.map(({ rule }) => rule) })
    }

    const remarks: Remarks = {
      bytes: bytes.length,
      contentTypes: shape.types,
      schema: checked ? 'fits' : 'none',
      masked: clean.masked,
      signs,
    }
    const accepted: Accepted = { bytes: clean.bytes, value: clean.value, isError, remarks }
    const room = roomFor(tool.profile, limits, action.hold.resultBytes)
    if (clean.bytes.length <= room) return pass(accepted, factsOf(remarks, shape.unknown))
    const fitting = spilled(received, accepted, room, spill)
    return 'code' in fitting ? fitting : pass(fitting, factsOf(fitting.remarks, shape.unknown))
  },
}

/** The whole goes aside, masked as it is handed out; the caller gets its beginning and its end. */
function spilled(received: Received, accepted: Accepted, room: number, spill: Spill): Accepted | Refusal {
  const { action, operation } = received
  const { tenant, id: principal } = action.principal
  const kept = spill.keep({ tenant, principal }, operation, accepted.bytes)
  if (typeof kept !== 'string') return no(received, kept.code, kept.facts)
  const whole = { uri: kept, bytes: accepted.bytes.length }
  const excerpt = excerptOf(action.tool.kind, accepted.bytes, accepted.value, room, whole)
  const facts = { bytes: whole.bytes, limit: room, spilled: kept }
  if (excerpt === undefined) return no(received, 'RESULT_TOO_LARGE', facts)
  // A client that knows the output schema takes a success without structured content for a fault of ours, and may call
  // again. It is told plainly instead.
  if (accepted.remarks.schema === 'fits' && excerpt.left.includes('structuredContent')) {
    return no(received, 'RESULT_TOO_LARGE', facts)
  }
  const { bytes } = excerpt
  return {
    bytes,
    value: JSON.parse(
      Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'),
    ) as Accepted['value'],
    isError: accepted.isError,
    remarks: { ...accepted.remarks, spilled: kept },
  }
}

/** Says no, and in the same breath that the call has run. */
function no(received: Received, code: Refusal['code'], facts: Facts): Refusal {
  return refuse(code, { ...facts, operation: received.operation, outcome: received.receipt.kind })
}

function factsOf({ bytes, contentTypes, schema, masked, signs, spilled }: Remarks, unknown: readonly string[]): Facts {
  return {
    bytes,
    contentTypes,
    schema,
    ...(masked.length === 0 ? {} : { masked: masked.map(({ rule, count }) => ({ rule, count })) }),
    ...(signs.length === 0 ? {} : { signs }),
    ...(unknown.length === 0 ? {} : { unknownTypes: unknown }),
    ...(spilled === undefined ? {} : { spilled }),
  }
}

export type { Accepted, Received, Remarks, Spill } from './accepted.ts'
export { type ResultLimits, defaultResultLimits } from './limits.ts'
export { provenance, withMarks } from './marks.ts'
export { maskText } from './secrets.ts'
