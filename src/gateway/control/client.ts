import type { IncomingMessage } from 'node:http'
import type {
  ApprovalFilter,
  ApprovalView,
  BudgetAccount,
  CallReport,
  CallRequestBody,
  CheckReport,
  DecideApproval,
  DecideOperation,
  EraseSubject,
  EvidenceFilter,
  EvidenceList,
  ExportRequest,
  Login,
  Offers,
  OperationDetail,
  OperationFilter,
  OperationView,
  PolicyReport,
  ReloadReport,
  ReloadRequest,
  RefusalView,
  ServerDetail,
  ServerSummary,
  Status,
  ToolDetail,
  ToolFilter,
  ToolRef,
  ToolSearchAnswer,
  ToolSearchQuery,
  ToolSummary,
} from '../../api/contract.ts'
import type { Judgement } from '../../flow/evidence/index.ts'
import { eventsOf } from './events.ts'
import { exchange, type Sent, textOf, throwIfFault } from './exchange.ts'

type Filter<Whole> = Partial<Whole>

const answerMs = 30_000
const lookMs = 5 * 60_000

/**
 * The other end of `Control`, in another process. Rejects with a ControlFault; what a gate refuses is a value. Calls have
 * no deadline of their own, since the gateway has: only the signal ends the wait for one.
 */
export class ControlClient {
  readonly #socket: string

  constructor(socket: string) {
    this.#socket = socket
  }

  status(signal?: AbortSignal): Promise<Status> {
    return this.#get('/v1/status', {}, signal)
  }

  async servers(): Promise<readonly ServerSummary[]> {
    return (await this.#get<{ servers: ServerSummary[] }>('/v1/servers')).servers
  }
  server(server: string): Promise<ServerDetail> {
    return this.#get('/v1/servers/:server', { path: { server } })
  }
  beginLogin(server: string, redirectUri: string): Promise<Login | RefusalView> {
    return this.#post('/v1/servers/:server/login', { path: { server }, body: { redirectUri } })
  }
  finishLogin(login: string, back: string): Promise<ServerDetail | RefusalView> {
    return this.#post('/v1/logins/:login', { path: { login }, body: { back } })
  }
  logout(server: string): Promise<ServerDetail> {
    return this.#post('/v1/servers/:server/logout', { path: { server } })
  }

  async tools(query: ToolFilter = {}): Promise<readonly ToolSummary[]> {
    return (await this.#get<{ tools: ToolSummary[] }>('/v1/tools', { query })).tools
  }
  searchTools(query: ToolSearchQuery, signal?: AbortSignal): Promise<ToolSearchAnswer> {
    return this.#get('/v1/search', { query }, signal)
  }
  tool(path: ToolRef): Promise<ToolDetail> {
    return this.#get('/v1/tools/:kind/:server/:name', { path: { ...path } })
  }
  approveTool(path: ToolRef, pin: string): Promise<ToolSummary | RefusalView> {
    return this.#post('/v1/tools/:kind/:server/:name/approve', { path: { ...path }, body: { pin } })
  }
  quarantineTool(path: ToolRef, why: string): Promise<ToolSummary | RefusalView> {
    return this.#post('/v1/tools/:kind/:server/:name/quarantine', { path: { ...path }, body: { why } })
  }
  async offers(signal?: AbortSignal): Promise<Offers['offers']> {
    return (await this.#get<Offers>('/v1/offers', {}, signal)).offers
  }

  /** `text` is the report as the gateway wrote it: numbers in the result keep digits there that `report` may lose. */
  async call(
    body: CallRequestBody,
    signal: AbortSignal,
  ): Promise<{ readonly report: CallReport; readonly text: string }> {
    const text = await this.#text('POST', '/v1/calls', { body }, signal)
    return { report: JSON.parse(text) as CallReport, text }
  }
  check(body: CallRequestBody, signal?: AbortSignal): Promise<CheckReport> {
    return this.#post('/v1/checks', { body }, signal)
  }

  async approvals(query: Filter<ApprovalFilter> = {}): Promise<readonly ApprovalView[]> {
    return (await this.#get<{ approvals: ApprovalView[] }>('/v1/approvals', { query })).approvals
  }
  approval(id: string): Promise<ApprovalView> {
    return this.#get('/v1/approvals/:id', { path: { id } })
  }
  decideApproval(id: string, body: DecideApproval): Promise<ApprovalView | RefusalView> {
    return this.#post('/v1/approvals/:id/decision', { path: { id }, body })
  }
  /** Resolves when the gateway is watching for us, so that no question after that is missed. */
  async watchApprovals(channel: 'terminal' | 'cli', signal: AbortSignal): Promise<AsyncGenerator<ApprovalView>> {
    const response = await this.#ok('GET', '/v1/approvals/watch', { query: { channel } }, signal)
    return eventsOf<ApprovalView>(response, 'approval', signal)
  }

  async operations(query: Filter<OperationFilter> = {}): Promise<readonly OperationView[]> {
    return (await this.#get<{ operations: OperationView[] }>('/v1/operations', { query })).operations
  }
  operation(id: string): Promise<OperationDetail> {
    return this.#get('/v1/operations/:id', { path: { id } })
  }
  decideOperation(id: string, body: DecideOperation): Promise<OperationView | RefusalView> {
    return this.#post('/v1/operations/:id/decision', { path: { id }, body })
  }
  compensateOperation(id: string): Promise<OperationView | RefusalView> {
    return this.#post('/v1/operations/:id/compensate', { path: { id } }, AbortSignal.timeout(lookMs))
  }
  reconcileOperation(id: string): Promise<OperationView | RefusalView> {
    return this.#post('/v1/operations/:id/reconcile', { path: { id } }, AbortSignal.timeout(lookMs))
  }

  async budgets(): Promise<readonly BudgetAccount[]> {
    return (await this.#get<{ budgets: BudgetAccount[] }>('/v1/budgets')).budgets
  }

  async evidence(query: Filter<EvidenceFilter> = {}): Promise<EvidenceList['records']> {
    return (await this.#get<EvidenceList>('/v1/evidence', { query })).records
  }
  /** The bytes of an export. The stream ends with an error where the gateway did not come to the end. */
  exportEvidence(query: Filter<ExportRequest>, signal: AbortSignal): Promise<IncomingMessage> {
    return this.#ok('GET', '/v1/evidence/export', { query }, signal)
  }
  rotateKey(): Promise<{ readonly key: string }> {
    return this.#post('/v1/evidence/rotate')
  }
  eraseSubject(body: EraseSubject): Promise<{ readonly keys: readonly string[] }> {
    return this.#post('/v1/evidence/erase', { body })
  }
  verifyEvidence(): Promise<Judgement> {
    return this.#post('/v1/evidence/verify', {}, AbortSignal.timeout(lookMs))
  }

  checkPolicy(): Promise<PolicyReport> {
    return this.#post('/v1/policy/check')
  }
  reloadConfig(body: ReloadRequest): Promise<ReloadReport> {
    return this.#post('/v1/configuration/reload', { body })
  }
  stop(): Promise<{ readonly stopping: true }> {
    return this.#post('/v1/stop')
  }

  async #get<Answer>(path: string, sent: Sent = {}, signal?: AbortSignal): Promise<Answer> {
    return JSON.parse(await this.#text('GET', path, sent, signal ?? AbortSignal.timeout(answerMs))) as Answer
  }
  async #post<Answer>(path: string, sent: Sent = {}, signal?: AbortSignal): Promise<Answer> {
    return JSON.parse(await this.#text('POST', path, sent, signal ?? AbortSignal.timeout(answerMs))) as Answer
  }

  async #text(method: 'GET' | 'POST', path: string, sent: Sent, signal: AbortSignal): Promise<string> {
    const response = await exchange(this.#socket, { method, path }, sent, signal)
    const text = await textOf(response, signal)
    if ((response.statusCode ?? 500) >= 400) throwIfFault(response.statusCode ?? 500, valueOf(text))
    return text
  }

  /** A response whose body is still to be read; anything but success is thrown. */
  async #ok(method: 'GET' | 'POST', path: string, sent: Sent, signal: AbortSignal): Promise<IncomingMessage> {
    const response = await exchange(this.#socket, { method, path }, sent, signal)
    if (response.statusCode === 200) return response
    const status = response.statusCode ?? 500
    throwIfFault(status, valueOf(await textOf(response, signal)))
    throw new Error(`status ${status} where a stream was expected`)
  }
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}
