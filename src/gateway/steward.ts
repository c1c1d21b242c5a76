import type {
  ApprovalFilter,
  ApprovalView,
  ApproveTool,
  BeginLogin,
  BudgetAccount,
  CallRequestBody,
  CheckReport,
  DecideApproval,
  DecideOperation,
  EraseSubject,
  EvidenceFilter,
  EvidenceList,
  ExportRequest,
  FinishLogin,
  Login,
  Offers,
  OperationDetail,
  OperationFilter,
  OperationView,
  PolicyReport,
  ReloadReport,
  ReloadRequest,
  ServerDetail,
  ServerSummary,
  Status,
  ToolDetail,
  ToolFilter,
  ToolRef,
  ToolSearchAnswer,
  ToolSearchQuery,
  ToolSummary,
} from '../api/contract.ts'
import type { Config } from '../config/config.ts'
import type { Answer, CallRequest } from '../flow/answer.ts'
import { fingerprint, type Judgement } from '../flow/evidence/index.ts'
import type { OperationState } from '../flow/side-effect/operation.ts'
import type { OperationStatus, Owner } from '../mcp/downstream/ports.ts'
import { verifyLedger } from '../store/sqlite/verify.ts'
import type { JsonObject } from '../words/json.ts'
import { refuse, type Refusal } from '../words/verdict.ts'
import type { Core } from './assemble.ts'
import type { Control } from './control/control.ts'
import { approvalView, budgetAccountView, operationView } from './control/views.ts'
import type { Home } from './home.ts'
import { LoginDesk } from './login-desk.ts'
import { localUser } from './principals.ts'
import { approvalChanges } from './approval-changes.ts'
import { CatalogueDesk } from './catalogue-desk.ts'
import { OperationWaits } from './operation-waits.ts'
import { compensate } from './compensations.ts'
import { operationDetail } from './operation-detail.ts'
import { policyReport } from './policies.ts'
import type { Reloader } from './reload.ts'
import { version } from './version.ts'

const openStates: readonly OperationState[] = [
  'proposed',
  'authorised',
  'dispatched',
  'working',
  'input_required',
  'unknown',
  'held',
  'compensating',
]

export interface StewardParts {
  readonly config: Config
  readonly home: Home
  readonly url: () => string
  readonly stop: () => void
  readonly reloader: Reloader
}

/** Does for the owner of the home what the commands ask for, on the running gateway. */
export class Steward implements Control {
  readonly #core: Core
  readonly #parts: StewardParts
  readonly #catalogue: CatalogueDesk
  readonly #waits: OperationWaits
  readonly #logins: LoginDesk
  readonly #startedAt = Date.now()

  constructor(core: Core, parts: StewardParts) {
    this.#core = core
    this.#parts = parts
    this.#catalogue = new CatalogueDesk(core, parts.config)
    this.#waits = new OperationWaits(
      (id) => core.open.ledger.find(id),
      (id) => core.lateAnswers.isDue(id),
    )
    this.#logins = new LoginDesk(core.auths, core.upstreams)
  }

  async status(): Promise<Status> {
    const { open, policies } = this.#core
    const { ledger, judgement } = open
    const broken = open.broken()
    const wrong = judgement.verdict === 'valid' ? broken : judgement.why.join('; ')
    return {
      version,
      pid: process.pid,
      startedAt: this.#startedAt,
      home: this.#parts.home.folder,
      config: this.#parts.config.file,
      url: this.#parts.url(),
      ledger: {
        state: judgement.verdict === 'valid' ? (broken === undefined ? 'ok' : 'unavailable') : 'rolled_back',
        ...(wrong === undefined ? {} : { why: wrong }),
        records: open.size(),
        reads: this.#parts.config.ledger.reads,
      },
      evidence: { key: fingerprint(open.publicKey), checkpointed: open.checkpointed() },
      policy: { version: policies.version, problems: this.#core.policyProblems },
      servers: await this.servers(),
      ...(this.#parts.reloader.last === undefined ? {} : { reload: this.#parts.reloader.last }),
      waitingApprovals: ledger.approvals({ states: ['waiting'], limit: 1000 }).length,
      unknownOperations: ledger.list({ states: ['unknown', 'held'], limit: 1000 }).length,
      runningCalls: this.#core.budgets.view(Date.now()).reduce((sum, { running }) => sum + running, 0),
    }
  }

  servers(): Promise<readonly ServerSummary[]> {
    return Promise.resolve(this.#catalogue.servers())
  }
  server(name: string): Promise<ServerDetail | undefined> {
    return Promise.resolve(this.#catalogue.server(name))
  }
  async beginLogin(server: string, begin: BeginLogin): Promise<Login | Refusal | undefined> {
    return this.#catalogue.server(server) && this.#logins.begin(server, begin)
  }
  async finishLogin(login: string, finish: FinishLogin): Promise<ServerDetail | Refusal | undefined> {
    const finished = await this.#logins.finish(login, finish)
    return typeof finished === 'string' ? this.#catalogue.server(finished) : finished
  }
  async logout(server: string): Promise<ServerDetail | undefined> {
    this.#logins.logout(server)
    return this.#catalogue.server(server)
  }
  tools(filter: ToolFilter): Promise<readonly ToolSummary[]> {
    return Promise.resolve(this.#catalogue.tools(filter))
  }
  tool(ref: ToolRef): Promise<ToolDetail | undefined> {
    return Promise.resolve(this.#catalogue.tool(ref))
  }
  approveTool(ref: ToolRef, { pin }: ApproveTool): Promise<ToolSummary | Refusal | undefined> {
    return this.#catalogue.approve(ref, pin, localUser.id)
  }
  quarantineTool(ref: ToolRef, why: string): Promise<ToolSummary | Refusal | undefined> {
    return this.#catalogue.quarantine(ref, localUser.id, why)
  }
  searchTools(query: ToolSearchQuery, signal: AbortSignal): Promise<ToolSearchAnswer> {
    const { query: request, unsure, ...rest } = query
    const wish = { ...rest, request, unsure: unsure === 'yes' }
    return this.#core.search.search({ ...localUser, proof: 'socket' }, wish, signal)
  }
  offers(): Promise<Offers['offers']> {
    return Promise.resolve(this.#catalogue.offers())
  }

  async call(request: CallRequestBody, signal: AbortSignal): Promise<Answer> {
    return this.#core.flow.call(requestOf(request), { consent: 'wait' }, signal)
  }

  async check(request: CallRequestBody, signal: AbortSignal): Promise<CheckReport> {
    return { steps: (await this.#core.flow.check(requestOf(request), signal)).steps }
  }

  approvals({ state, limit }: ApprovalFilter): Promise<readonly ApprovalView[]> {
    const { ledger } = this.#core.open
    const found = ledger.approvals({ ...(state === undefined ? {} : { states: [state] }), limit })
    return Promise.resolve(found.map((approval) => approvalView(approval, ledger.approvalArguments(approval.id) ?? '')))
  }

  approval(id: string): Promise<ApprovalView | undefined> {
    const { ledger } = this.#core.open
    const approval = ledger.approval(id)
    return Promise.resolve(approval && approvalView(approval, ledger.approvalArguments(id) ?? ''))
  }

  async decideApproval(
    id: string,
    { decision, channel, why }: DecideApproval,
  ): Promise<ApprovalView | Refusal | undefined> {
    const { desk, open } = this.#core
    if (open.ledger.approval(id) === undefined) return undefined
    const answered =
      decision === 'revoked'
        ? await desk.revoke(id, localUser.id, why)
        : await desk.answer(id, { by: localUser.id, channel, granted: decision === 'granted', why })
    return 'state' in answered ? approvalView(answered, open.ledger.approvalArguments(id) ?? '') : answered
  }

  watchApprovals(channel: 'terminal' | 'cli', signal: AbortSignal): AsyncIterable<ApprovalView> {
    const { desk, open } = this.#core
    return approvalChanges(desk, open.ledger, channel, signal)
  }

  operations({ state, limit }: OperationFilter): Promise<readonly OperationView[]> {
    const states = state === undefined ? undefined : state === 'open' ? openStates : [state]
    const found = this.#core.open.ledger.list({ ...(states === undefined ? {} : { states }), limit })
    return Promise.resolve(found.map(operationView))
  }

  operation(id: string): Promise<OperationDetail | undefined> {
    return Promise.resolve(operationDetail(this.#core.open, id))
  }

  async decideOperation(id: string, { decision, why }: DecideOperation): Promise<OperationView | Refusal | undefined> {
    const { ledger } = this.#core.open
    const row = ledger.find(id)
    if (row === undefined) return undefined
    if (decision === 'hold') {
      if (row.state !== 'unknown') return refuse('AUTHORISATION_STALE', { operation: id, state: row.state })
      await ledger.hold(id, why)
      return operationView(ledger.find(id)!)
    }
    const decided = await ledger.reconcile(id, {
      to: decision === 'effect' ? 'reconciled_effect' : 'reconciled_none',
      method: 'decision',
      by: localUser.id,
      evidence: why,
    })
    return 'code' in decided ? decided : operationView(decided)
  }

  async compensateOperation(id: string, signal: AbortSignal): Promise<OperationView | Refusal | undefined> {
    const { flow, open, profileOf } = this.#core
    const row = open.ledger.find(id)
    if (row === undefined) return undefined
    const undone = await compensate(row, { flow, ledger: open.ledger, profileOf }, signal)
    return 'code' in undone ? undone : operationView(undone)
  }

  async reconcileOperation(id: string, _signal: AbortSignal): Promise<OperationView | Refusal | undefined> {
    const row = await this.#core.reconciler.look(id)
    return row && operationView(row)
  }

  budgets(): Promise<readonly BudgetAccount[]> {
    return Promise.resolve(this.#core.budgets.view(Date.now()).map(budgetAccountView))
  }

  evidence(filter: EvidenceFilter): Promise<EvidenceList['records']> {
    return Promise.resolve(this.#core.open.records(filter).map((line) => JSON.parse(line) as JsonObject))
  }

  exportEvidence({ payloads, ...filter }: ExportRequest, _signal: AbortSignal): AsyncIterable<string> {
    return this.#core.open.exportLines({ filter, payloads: payloads === 'yes' })
  }

  async rotateKey(): Promise<{ readonly key: string }> {
    return { key: await this.#core.open.rotateKey() }
  }

  async eraseSubject({
    tenant,
    principal,
    why,
  }: EraseSubject): Promise<{ readonly keys: readonly string[] } | undefined> {
    return this.#core.open.erase({ tenant, principal }, { by: localUser.id, why })
  }

  async verifyEvidence(): Promise<Judgement> {
    // What is committed and not yet synced would look like a tail that nobody has seen.
    if (this.#core.open.judgement.verdict === 'valid') await this.#core.open.checkpoint()
    return verifyLedger(this.#parts.home.folder)
  }

  checkPolicy(): Promise<PolicyReport> {
    return Promise.resolve(policyReport(this.#parts.config.policy))
  }

  reloadConfig({ loosening }: ReloadRequest): Promise<ReloadReport> {
    return this.#parts.reloader.reload({ loosening, by: localUser.id })
  }

  stop(): void {
    this.#parts.stop()
  }

  /** A yes or no that a client's own user gave. Whether it counts is said by the consent rule. */
  async answerElicited(
    id: string,
    answer: { readonly by: string; readonly decision: 'granted' | 'denied'; readonly why?: string },
  ): Promise<Refusal | undefined> {
    const { desk, open } = this.#core
    if (open.ledger.approval(id)?.state !== 'waiting') return undefined
    const decision = {
      by: answer.by,
      channel: 'elicitation',
      granted: answer.decision === 'granted',
      why: answer.why ?? '',
    } as const
    const answered = await desk.answer(id, decision)
    return 'state' in answered ? undefined : answered
  }

  /** What a client may know of an operation of its own principal. */
  operationStatus(owner: Owner, id: string): JsonObject | undefined {
    const row = this.#core.open.ledger.find(id)
    if (row === undefined || row.tenant !== owner.tenant || row.principal !== owner.principal) return undefined
    const { tool, state, acceptance, attempts } = row
    const { why, receiptRef } = row
    return {
      operation: id,
      tool,
      state,
      acceptance,
      attempts,
      ...(why === undefined ? {} : { why }),
      ...(receiptRef === undefined ? {} : { receipt: receiptRef }),
    }
  }

  async operationWait(
    owner: Owner,
    id: string,
    ms: number,
    signal: AbortSignal,
  ): ReturnType<NonNullable<OperationStatus['wait']>> {
    if (this.operationStatus(owner, id) === undefined) return undefined
    await this.#waits.settled(id, ms, signal)
    const status = this.operationStatus(owner, id)
    const answer = this.#core.lateAnswers.of(id)
    return status && { status, ...(answer === undefined ? {} : { answer }) }
  }
}

function requestOf({ target, arguments: text, door, conversation, callId, requestKey }: CallRequestBody): CallRequest {
  return {
    target: { kind: 'tool', ...target },
    arguments: { text },
    origin: {
      door,
      ...(conversation === undefined ? {} : { conversation }),
      ...(callId === undefined ? {} : { callId }),
      ...(requestKey === undefined ? {} : { requestKey }),
    },
    credential: { kind: 'socket' },
  }
}
