// node bench/own/record.ts [--calls N]: CPU that the record of a governed read takes, whole and referring, in one run.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { action, type AuthorisedAction } from '../../src/flow/action/index.ts'
import type { Step } from '../../src/flow/line.ts'
import { undeclared } from '../../src/flow/tool/profile.ts'
import { openLedger } from '../../src/store/sqlite/open.ts'
import { canonical } from '../../src/words/canonical.ts'
import { commitment, digest } from '../../src/words/digest.ts'
import { newId, randomSalt } from '../../src/words/id.ts'

const { values } = parseArgs({ options: { calls: { type: 'string', default: '20000' } } })
const calls = Number(values.calls)
const never = new AbortController().signal
const CALLERS = 16
const ROUNDS = 5
const options = {
  repeatWindowMs: 600_000,
  reads: 'grouped',
  checkpointEvery: 1_000_000,
  checkpointMs: 86_400_000,
} as const
const result = Buffer.from('{"content":[{"type":"text","text":"0123456789abcdef"}]}')

function read(n: number): AuthorisedAction {
  const given = { text: `${n}` }
  const text = canonical(given)
  const verdict = action.judge(
    {
      proposal: {
        id: 'prp_1',
        target: { kind: 'tool', server: 'up', name: 'echo' },
        arguments: given,
        canonical: text,
        digest: digest(text),
        origin: { door: 'gateway' },
        traceId: '1'.repeat(32),
        receivedAt: Date.now(),
      },
      principal: { id: 'local', tenant: 'local', kind: 'user', groups: [], proof: 'token' },
      tool: {
        kind: 'tool',
        key: 'up/echo',
        server: 'up',
        name: 'echo',
        exportedName: 'up__echo',
        pin: digest('pin'),
        serverIdentity: digest('server'),
        serverVersion: '1',
        definition: {},
        profile: { ...undeclared, effect: 'read' },
        checkArguments: () => [],
      },
      scopes: [],
      scopesDigest: digest('[]'),
      policyVersion: digest('policy'),
      consent: { kind: 'not-needed', rule: 'reads pass' },
      repeatOf: undefined,
      hold: { id: n, wallMs: Infinity, resultBytes: Infinity, settle: () => {}, release: () => {} },
    },
    {},
    never,
  )
  if (verdict instanceof Promise || verdict.kind !== 'pass') throw new Error('not authorised')
  return verdict.next
}

const step = (name: Step['step'], facts: Step['facts'], micros: number): Step => ({
  step: name,
  verdict: 'pass',
  facts,
  micros,
})
const stepsOf = (n: number, operation: string): Step[] => [
  step('proposal', { bytes: 12 + String(n).length, door: 'gateway' }, 31),
  step(
    'principal',
    { principal: 'local', tenant: 'local', kind: 'user', groups: [], proof: 'token', door: 'gateway' },
    4,
  ),
  step(
    'tool',
    {
      server: 'up',
      tool: 'up/echo',
      pin: digest('pin'),
      version: '1',
      kind: 'tool',
      effect: 'read',
      risk: 'low',
      declared: true,
    },
    6,
  ),
  step(
    'resource',
    { scopes: [], scopesDigest: digest('[]'), policies: ['all.cedar:1'], policyVersion: digest('policy') },
    3,
  ),
  step('consent', { rule: 'reads pass', decision: 'allow' }, 2),
  step('budget', { hold: n }, 2),
  step('action', {}, 1),
  step('side-effect', { operation, effect: 'read' }, 3),
  step('receipt', { kind: 'succeeded', bytes: result.length }, 900 + (n % 97)),
  step('result', { bytes: result.length, contentTypes: ['text'], schema: 'none' }, 12),
]

const work = join(import.meta.dirname, '..', 'work')
mkdirSync(work, { recursive: true })
const folder = mkdtempSync(join(work, 'record-'))
const opened = { whole: openLedger(join(folder), options) }
mkdirSync(join(folder, 'referring'))
const referring = openLedger(join(folder, 'referring'), options)
const { ledger } = opened.whole

/** As the record of a read was before: every fact in its own record, commitments under a drawn salt. */
async function whole(n: number): Promise<void> {
  const authorised = read(n)
  const operation = newId('op')
  const salt = randomSalt(32)
  await ledger.record(
    {
      kind: 'op.read',
      at: Date.now(),
      operation,
      tenant: 'local',
      principal: 'local',
      tool: 'up/echo',
      trace: authorised.proposal.traceId,
      path: ['proposed', 'authorised', 'dispatched', 'succeeded'],
      commitments: {
        arguments: commitment(salt, authorised.proposal.canonical),
        result: commitment(salt, result),
      },
      steps: stepsOf(n, operation),
      facts: { wallMs: 1, bytes: result.length },
    },
    'grouped',
  )
}

async function referred(n: number): Promise<void> {
  const operation = newId('op')
  await referring.ledger.read(
    read(n),
    operation,
    { state: 'succeeded', errorKind: 'E4', result, wallMs: 1 },
    stepsOf(n, operation),
  )
}

async function none(n: number): Promise<void> {
  read(n)
  stepsOf(n, newId('op'))
  await Promise.resolve()
}

async function microsOf(one: (n: number) => Promise<void>): Promise<number> {
  let n = 0
  const before = process.cpuUsage()
  const caller = async (): Promise<void> => {
    while (n < calls) await one(n++)
  }
  await Promise.all(Array.from({ length: CALLERS }, caller))
  const { user, system } = process.cpuUsage(before)
  return (user + system) / calls
}

try {
  const measured = { none, whole, referred }
  const best: Record<string, number[]> = { none: [], whole: [], referred: [] }
  for (let round = 0; round <= ROUNDS; round++)
    for (const [name, one] of Object.entries(measured)) {
      const micros = await microsOf(one)
      if (round > 0) best[name]!.push(micros)
    }
  const median = (name: string): number => best[name]!.toSorted((a, b) => a - b)[Math.floor(ROUNDS / 2)]!
  const bytesOf = (open: typeof referring): number => open.records({ limit: 1 })[0]!.length
  console.log(`CPU per recorded read, ${CALLERS} callers, ${calls} calls, median of ${ROUNDS} rounds in one run:`)
  console.log(`  making the call alone   ${median('none').toFixed(1)} µs`)
  console.log(
    `  whole record            ${(median('whole') - median('none')).toFixed(1)} µs, ${bytesOf(opened.whole)} bytes`,
  )
  console.log(
    `  record that refers      ${(median('referred') - median('none')).toFixed(1)} µs, ${bytesOf(referring)} bytes`,
  )
} finally {
  await opened.whole.close()
  await referring.close()
  rmSync(folder, { recursive: true })
}
