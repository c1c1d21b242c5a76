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
} from '../../api/contract.ts'
import type { Answer } from '../../flow/answer.ts'
import type { Judgement } from '../../flow/evidence/index.ts'
import type { Refusal } from '../../words/verdict.ts'

/**
 * What a running gateway does for the person who owns its home. Whoever can open the control socket is that person: its
 * credential is `socket`. `undefined` stands for "there is no such thing"; a Refusal is a gate's no.
 */
export interface Control {
  status(): Promise<Status>

  servers(): Promise<readonly ServerSummary[]>
  server(name: string): Promise<ServerDetail | undefined>

  /** A refusal says why nobody can log in there. */
  beginLogin(server: string, begin: BeginLogin): Promise<Login | Refusal | undefined>
  finishLogin(login: string, finish: FinishLogin): Promise<ServerDetail | Refusal | undefined>
  logout(server: string): Promise<ServerDetail | undefined>

  tools(filter: ToolFilter): Promise<readonly ToolSummary[]>
  /** Over the tools that the local user may see. */
  searchTools(query: ToolSearchQuery, signal: AbortSignal): Promise<ToolSearchAnswer>
  tool(ref: ToolRef): Promise<ToolDetail | undefined>
  /** TOOL_CHANGED where the live digest is not the one that the approver saw. */
  approveTool(ref: ToolRef, approval: ApproveTool): Promise<ToolSummary | Refusal | undefined>
  quarantineTool(ref: ToolRef, why: string): Promise<ToolSummary | Refusal | undefined>
  /** Approved tools that the local user may call. */
  offers(): Promise<Offers['offers']>

  /** The signal aborts when the caller's connection is gone. */
  call(request: CallRequestBody, signal: AbortSignal): Promise<Answer>
  check(request: CallRequestBody, signal: AbortSignal): Promise<CheckReport>

  approvals(filter: ApprovalFilter): Promise<readonly ApprovalView[]>
  approval(id: string): Promise<ApprovalView | undefined>
  decideApproval(id: string, decision: DecideApproval): Promise<ApprovalView | Refusal | undefined>
  /**
   * Every waiting question first, then every change, until the signal aborts. With `terminal` somebody sits there, and the
   * channel counts as reachable for as long as this runs. A slow reader loses the oldest changes, never the newest.
   */
  watchApprovals(channel: 'terminal' | 'cli', signal: AbortSignal): AsyncIterable<ApprovalView>

  operations(filter: OperationFilter): Promise<readonly OperationView[]>
  operation(id: string): Promise<OperationDetail | undefined>
  decideOperation(id: string, decision: DecideOperation): Promise<OperationView | Refusal | undefined>
  /** One look by the profile's read-back; the operation as it stands afterwards. */
  /** Undoes it by the call that its profile names, through all gates. */
  compensateOperation(id: string, signal: AbortSignal): Promise<OperationView | Refusal | undefined>
  reconcileOperation(id: string, signal: AbortSignal): Promise<OperationView | Refusal | undefined>

  budgets(): Promise<readonly BudgetAccount[]>

  evidence(filter: EvidenceFilter): Promise<EvidenceList['records']>
  /** Lines of an export, without their line ends. */
  exportEvidence(wanted: ExportRequest, signal: AbortSignal): AsyncIterable<string>
  /** A new signing key, which the old one signs. Answers its fingerprint. */
  rotateKey(): Promise<{ readonly key: string }>
  /** Destroys the key of what is kept of a principal. Undefined where nothing is. */
  eraseSubject(who: EraseSubject): Promise<{ readonly keys: readonly string[] } | undefined>
  verifyEvidence(): Promise<Judgement>

  checkPolicy(): Promise<PolicyReport>

  /** Begins to end the gateway and returns at once; `Gateway.ended` resolves when it has. */
  /** Reads the configuration again. What is wrong with it is said in the report, and leaves the old one in force. */
  reloadConfig(request: ReloadRequest): Promise<ReloadReport>

  stop(): void
}

/** How much goes on, for a gateway that ends by itself when nothing does. */
export interface Activity {
  /** Connections and calls that are open now. */
  readonly running: number
  /** How many have begun since the start. */
  readonly begun: number
}

export interface Gateway {
  /** Where MCP clients connect, e.g. http://127.0.0.1:7420/mcp */
  readonly url: string
  readonly control: Control
  activity(): Activity
  /** Resolves when the gateway has ended, by `close`, by `Control.stop` or by itself. Rejects when it broke. */
  readonly ended: Promise<void>
  /** Ends calls that can be ended, records what is open, stops every child. Idempotent. */
  close(): Promise<void>
}

export interface GatewayOptions {
  /** Instead of the port of the configuration. */
  readonly port?: number
  /** No terminal: standard error is a log file. */
  readonly background: boolean
}
