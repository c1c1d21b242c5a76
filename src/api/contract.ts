import { z } from 'zod'
import { beginLoginSchema, finishLoginSchema, loginSchema } from './logins.ts'
import { approvalFilterSchema, approvalSchema, decideApprovalSchema, watchApprovalsSchema } from './approvals.ts'
import { callReportSchema, callRequestSchema, checkReportSchema, offersSchema } from './calls.ts'
import {
  approveToolSchema,
  quarantineToolSchema,
  serverDetailSchema,
  serverSummarySchema,
  toolDetailSchema,
  toolFilterSchema,
  toolSearchAnswerSchema,
  toolSearchSchema,
  toolSummarySchema,
} from './catalogue.ts'
import {
  evidenceFilterSchema,
  evidenceSchema,
  erasedSchema,
  eraseSchema,
  exportFilterSchema,
  judgementSchema,
  rotatedSchema,
} from './evidence.ts'
import { decideOperationSchema, operationDetailSchema, operationFilterSchema, operationSchema } from './operations.ts'
import { budgetAccountSchema, policyReportSchema, statusSchema } from './status.ts'
import { reloadReportSchema, reloadSchema } from './configuration.ts'
import { refusalSchema } from './values.ts'

/** Sent by the gateway with every answer; a client that knows another one must not go on. */
export const contractHeader = 'countersign-contract'
export const contractVersion = '1'

const list = <Item extends z.ZodType>(name: string, item: Item) => z.strictObject({ [name]: z.array(item) })

/**
 * Every route of the HTTP API: what is sent as query or JSON body, and what comes back with status 200 (or 202). A gate's
 * no comes back as `refusal` with the status of its code, anything broken as `fault`. `:name` segments are percent-encoded.
 */
export const routes = {
  status: { method: 'GET', path: '/v1/status', answer: statusSchema },
  servers: { method: 'GET', path: '/v1/servers', answer: list('servers', serverSummarySchema) },
  server: { method: 'GET', path: '/v1/servers/:server', answer: serverDetailSchema },
  /** Where a browser has to go, so that a person logs in at the authorization server of an upstream. */
  beginLogin: {
    method: 'POST',
    path: '/v1/servers/:server/login',
    body: beginLoginSchema,
    answer: loginSchema,
  },
  finishLogin: { method: 'POST', path: '/v1/logins/:login', body: finishLoginSchema, answer: serverDetailSchema },
  logout: { method: 'POST', path: '/v1/servers/:server/logout', answer: serverDetailSchema },
  tools: { method: 'GET', path: '/v1/tools', query: toolFilterSchema, answer: list('tools', toolSummarySchema) },
  searchTools: { method: 'GET', path: '/v1/search', query: toolSearchSchema, answer: toolSearchAnswerSchema },
  tool: { method: 'GET', path: '/v1/tools/:kind/:server/:name', answer: toolDetailSchema },
  approveTool: {
    method: 'POST',
    path: '/v1/tools/:kind/:server/:name/approve',
    body: approveToolSchema,
    answer: toolSummarySchema,
  },
  quarantineTool: {
    method: 'POST',
    path: '/v1/tools/:kind/:server/:name/quarantine',
    body: quarantineToolSchema,
    answer: toolSummarySchema,
  },
  offers: { method: 'GET', path: '/v1/offers', answer: offersSchema },
  call: { method: 'POST', path: '/v1/calls', body: callRequestSchema, answer: callReportSchema },
  check: { method: 'POST', path: '/v1/checks', body: callRequestSchema, answer: checkReportSchema },
  approvals: {
    method: 'GET',
    path: '/v1/approvals',
    query: approvalFilterSchema,
    answer: list('approvals', approvalSchema),
  },
  /** Server-sent events named `approval`, one for each waiting question and then for each change. */
  watchApprovals: { method: 'GET', path: '/v1/approvals/watch', query: watchApprovalsSchema, answer: approvalSchema },
  approval: { method: 'GET', path: '/v1/approvals/:id', answer: approvalSchema },
  decideApproval: {
    method: 'POST',
    path: '/v1/approvals/:id/decision',
    body: decideApprovalSchema,
    answer: approvalSchema,
  },
  operations: {
    method: 'GET',
    path: '/v1/operations',
    query: operationFilterSchema,
    answer: list('operations', operationSchema),
  },
  operation: { method: 'GET', path: '/v1/operations/:id', answer: operationDetailSchema },
  decideOperation: {
    method: 'POST',
    path: '/v1/operations/:id/decision',
    body: decideOperationSchema,
    answer: operationSchema,
  },
  compensateOperation: { method: 'POST', path: '/v1/operations/:id/compensate', answer: operationSchema },
  reconcileOperation: { method: 'POST', path: '/v1/operations/:id/reconcile', answer: operationSchema },
  budgets: { method: 'GET', path: '/v1/budgets', answer: list('budgets', budgetAccountSchema) },
  evidence: { method: 'GET', path: '/v1/evidence', query: evidenceFilterSchema, answer: evidenceSchema },
  /** application/x-ndjson: the lines of an export, header and trailer included. */
  exportEvidence: { method: 'GET', path: '/v1/evidence/export', query: exportFilterSchema, answer: z.string() },
  eraseSubject: { method: 'POST', path: '/v1/evidence/erase', body: eraseSchema, answer: erasedSchema },
  rotateKey: { method: 'POST', path: '/v1/evidence/rotate', answer: rotatedSchema },
  verifyEvidence: { method: 'POST', path: '/v1/evidence/verify', answer: judgementSchema },
  checkPolicy: { method: 'POST', path: '/v1/policy/check', answer: policyReportSchema },
  reloadConfig: {
    method: 'POST',
    path: '/v1/configuration/reload',
    body: reloadSchema,
    answer: reloadReportSchema,
  },
  stop: { method: 'POST', path: '/v1/stop', answer: z.strictObject({ stopping: z.literal(true) }) },
} as const satisfies Record<string, Route>

export interface Route {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly query?: z.ZodType
  readonly body?: z.ZodType
  readonly answer: z.ZodType
}

export { refusalSchema }
export type { ApprovalFilter, ApprovalView, DecideApproval } from './approvals.ts'
export type { CallReport, CallRequestBody, CheckReport, Offers } from './calls.ts'
export type {
  ApproveTool,
  ServerDetail,
  ServerSummary,
  ToolDetail,
  ToolFilter,
  ToolRef,
  ToolSearchAnswer,
  ToolSearchQuery,
  ToolSummary,
} from './catalogue.ts'
export type { EvidenceFilter, EraseSubject, EvidenceList, ExportRequest } from './evidence.ts'
export type { CallRecord, DecideOperation, OperationDetail, OperationFilter, OperationView } from './operations.ts'
export type { ReloadReport, ReloadRequest } from './configuration.ts'
export type { BeginLogin, FinishLogin, Login } from './logins.ts'
export type { BudgetAccount, PolicyReport, Status } from './status.ts'
export { type FaultView, type RefusalView, faultSchema } from './values.ts'
