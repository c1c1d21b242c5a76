import type { OperationDetail } from '../api/contract.ts'
import type { OpenLedger } from '../store/sqlite/open.ts'
import { callRecord } from './call-record.ts'
import { operationView } from './control/views.ts'

const SHOWN_BYTES = 64 * 1024

/** One operation with what was sent, what came back, and its events. */
export function operationDetail(open: OpenLedger, id: string): OperationDetail | undefined {
  const row = open.ledger.find(id)
  if (row === undefined) return undefined
  const sent = open.ledger.payload(id, 'arguments')
  const result = open.ledger.payload(id, 'result')
  const cut = result !== undefined && result.length > SHOWN_BYTES
  const happenings = open.happenings(id).map(happeningOf)
  return {
    ...operationView(row),
    ...(sent === undefined ? {} : { arguments: Buffer.from(sent).toString('utf8') }),
    ...(result === undefined ? {} : { result: Buffer.from(result.subarray(0, SHOWN_BYTES)).toString('utf8') }),
    ...(cut ? { resultCut: true } : {}),
    record: callRecord(row, happenings, result),
    attemptRows: open.ledger.attempts(id),
    happenings,
  }
}

function happeningOf(record: object): OperationDetail['happenings'][number] {
  const { seq, kind, at, path, steps, facts } = record as OperationDetail['happenings'][number]
  return {
    seq,
    kind,
    at,
    ...(path === undefined ? {} : { path }),
    ...(steps === undefined ? {} : { steps }),
    ...(facts === undefined ? {} : { facts }),
  }
}
