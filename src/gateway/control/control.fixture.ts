import type { ApprovalView, OperationView, ToolDetail } from '../../api/contract.ts'
import { refuse } from '../../words/verdict.ts'
import type { Answer } from '../../flow/answer.ts'
import type { Control } from './control.ts'

/** A control for tests of the routes: plain data, and a note of everything that reached it. */
export interface NotedControl extends Control {
  readonly seen: unknown[][]
}

export const digits = 'a'.repeat(64)

export const waitingApproval: ApprovalView = {
  id: 'apr_1',
  state: 'waiting',
  tool: 'filesystem/write_file',
  principal: 'local',
  tenant: 'local',
  risk: 'medium',
  rule: 'all else asks',
  channels: ['terminal', 'cli'],
  selfApproval: true,
  text: 'write ./a.txt',
  arguments: '{"path":"a.txt"}',
  askedAt: 1,
  expiresAt: 2,
}

export const unknownOperation: OperationView = {
  id: 'op_1',
  tenant: 'local',
  principal: 'local',
  tool: 'filesystem/write_file',
  effect: 'once',
  state: 'unknown',
  standing: 'silent',
  acceptance: 'pending',
  attempts: 1,
  argumentsDigest: digits,
  scopesDigest: digits,
  pin: digits,
  upstreamKey: '',
  resultBytes: 0,
  createdAt: 1,
  updatedAt: 2,
}

export const oneTool: ToolDetail = {
  key: 'odd/a b/c?d',
  kind: 'tool',
  server: 'odd',
  name: 'a b/c?d',
  exportedName: 'odd__a_b_c_d',
  state: 'approved',
  effect: 'once',
  risk: 'high',
  declared: false,
  pin: digits,
  livePin: digits,
  profile: {},
  differences: [],
}

export function answered(text: string): Answer {
  const bytes = Buffer.from(text)
  return {
    kind: 'answered',
    operation: 'op_1',
    state: 'succeeded',
    acceptance: 'not_required',
    accepted: {
      bytes,
      value: JSON.parse(text) as Record<string, never>,
      isError: false,
      remarks: { bytes: bytes.byteLength, contentTypes: ['text'], schema: 'none', masked: [], signs: [] },
    },
    steps: [{ step: 'proposal', verdict: 'pass', facts: {}, micros: 12 }],
  }
}

export function notedControl(own: Partial<Control> = {}): NotedControl {
  const seen: unknown[][] = []
  const note =
    <Answer>(name: string, answer: Answer) =>
    (...given: unknown[]) => {
      seen.push([name, ...given.filter((it) => !(it instanceof AbortSignal))])
      return Promise.resolve(answer)
    }
  return {
    seen,
    status: note('status', {
      version: '0.0.0',
      pid: process.pid,
      startedAt: 1,
      home: '/h',
      config: '/c',
      url: 'http://127.0.0.1:1/mcp',
      ledger: { state: 'ok' as const, records: 3, reads: 'grouped' as const },
      evidence: { key: 'k', checkpointed: 3 },
      policy: { version: digits, problems: [] },
      servers: [],
      waitingApprovals: 1,
      unknownOperations: 1,
      runningCalls: 0,
    }),
    servers: note('servers', []),
    server: note('server', undefined),
    beginLogin: note('beginLogin', refuse('LOGIN_REFUSED', { why: 'nothing to log in at' })),
    finishLogin: note('finishLogin', undefined),
    logout: note('logout', undefined),
    tools: note('tools', [oneTool]),
    searchTools: note('searchTools', {
      matches: [],
      searched: 1,
      confidence: 0,
      floor: 1,
      margin: 0,
      why: 'nothing fits',
      left: 0,
    }),
    tool: note('tool', oneTool),
    approveTool: note('approveTool', refuse('TOOL_CHANGED', { live: 'other' })),
    quarantineTool: note('quarantineTool', undefined),
    offers: note('offers', []),
    call: note('call', answered('{"content":[{"type":"text","text":"fine"}]}')),
    check: note('check', { steps: [] }),
    approvals: note('approvals', [waitingApproval]),
    approval: note('approval', waitingApproval),
    decideApproval: note('decideApproval', waitingApproval),
    watchApprovals: async function* () {
      yield await Promise.resolve(waitingApproval)
    },
    operations: note('operations', [unknownOperation]),
    operation: note('operation', {
      ...unknownOperation,
      record: {
        actor: 'local',
        tenant: 'local',
        tool: 'filesystem/write_file',
        argumentsDigest: digits,
        resourceScope: [],
        approvalProof: {},
        idempotencyKey: { upstream: '' },
        externalReceipt: null,
        verdicts: { allowed: true, happened: 'unknown' as const, done: 'pending' as const },
      },
      attemptRows: [],
      happenings: [],
    }),
    decideOperation: note('decideOperation', unknownOperation),
    compensateOperation: note('compensateOperation', unknownOperation),
    reconcileOperation: note('reconcileOperation', unknownOperation),
    budgets: note('budgets', []),
    evidence: note('evidence', []),
    rotateKey: note('rotateKey', { key: 'k2' }),
    eraseSubject: note('eraseSubject', { keys: ['d1'] }),
    exportEvidence: async function* () {
      yield await Promise.resolve('{"first":true}')
      yield '{"records":1}'
    },
    verifyEvidence: note('verifyEvidence', { verdict: 'valid' as const, records: 1, why: [] }),
    checkPolicy: note('checkPolicy', { ok: true, version: digits, policies: 1, problems: [] }),
    reloadConfig: note('reloadConfig', { state: 'unchanged', at: 0, changed: [], loosens: [], needsRestart: [] }),
    stop: () => void seen.push(['stop']),
    ...own,
  }
}
