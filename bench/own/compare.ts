import { type Plan, type Row, type Scenario, scenarioName, type Target } from '../target.ts'
import { drive, type Drive, type Driven, median } from './drive.ts'
import { cpuNanos } from './processes.ts'
import { type Running, startTarget, startUpstream } from './running.ts'
import { openSession, type Session } from './session.ts'

interface Pair {
  readonly own: Driven
  readonly direct: Driven
}

/** A target in one scenario: warmed up, with its sessions open and the number of calls that fill a slice. */
interface Warm {
  readonly sessions: readonly Session[]
  readonly slice: (part: number) => Promise<Driven>
}

const directPart = 0.35
const callMs = 60_000
const mostCalls = 40_000

/**
 * Starts the upstream and all targets, and measures them by turns: a round is a slice of each, and right before each slice a
 * short one of the direct connection, so that what else the machine does falls on both.
 */
export async function compareOwn(
  plan: Plan,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<readonly Row[]> {
  await using stack = new AsyncDisposableStack()
  const upstream = await startUpstream(plan)
  stack.defer(() => upstream.stop())
  const running: Running[] = []
  const rows: Row[] = []
  for (const target of plan.targets) {
    signal.throwIfAborted()
    try {
      const one = await startTarget(target, plan, upstream)
      stack.defer(() => one.stop())
      running.push(one)
    } catch (fault) {
      say(String(fault))
      rows.push(...plan.scenarios.map((scenario) => failedRow(target, scenario, String(fault).split('\n')[0]!)))
    }
  }
  for (const scenario of plan.scenarios) rows.push(...(await rounds(running, scenario, plan, say, signal)))
  return rows
}

async function rounds(
  running: readonly Running[],
  scenario: Scenario,
  plan: Plan,
  say: (line: string) => void,
  signal: AbortSignal,
): Promise<Row[]> {
  const warm = new Map<Running, Warm>()
  const pairs = new Map<Running, Pair[]>(running.map((one) => [one, []]))
  const failed = new Map<Running, string>()
  const direct = running.find(({ target }) => target.direct === true)!
  try {
    warm.set(direct, await warmUp(direct, scenario, plan))
    for (let round = 0; round < plan.rounds; round++) {
      for (let n = 0; n < running.length; n++) {
        signal.throwIfAborted()
        const one = running[(n + round) % running.length]!
        if (failed.has(one)) continue
        try {
          if (!warm.has(one)) warm.set(one, await warmUp(one, scenario, plan))
          const before = await warm.get(direct)!.slice(directPart)
          const own = await warm.get(one)!.slice(1)
          pairs.get(one)!.push({ own, direct: one === direct ? own : before })
          say(`${scenarioName(scenario)} ${round + 1}/${plan.rounds} ${one.target.name}: ${own.perSecond.toFixed(0)}/s`)
        } catch (fault) {
          failed.set(one, String(fault))
          say(`${scenarioName(scenario)} ${one.target.name}: ${String(fault)}`)
        }
      }
    }
  } finally {
    for (const { sessions } of warm.values()) await Promise.all(sessions.map((session) => session.close()))
  }
  return running.map((one) => rowOf(one.target, scenario, pairs.get(one)!, failed.get(one)))
}

async function warmUp({ target, pid }: Running, scenario: Scenario, plan: Plan): Promise<Warm> {
  const { callers, what } = scenario
  const sessions: Session[] = []
  for (let n = 0; n < Math.min(8, Math.ceil(callers / 4)); n++)
    sessions.push(await openSession({ ...target, timeoutMs: callMs }))
  const same = what === 'list' ? undefined : callParams(target, what, 'hello countersign')
  let made = 0
  const settings: Omit<Drive, 'calls' | 'maxMs'> = {
    callers,
    method: what === 'list' ? 'tools/list' : 'tools/call',
    params: () => (target.vary === true ? callParams(target, what, `hello countersign ${made++}`) : same),
    cpuNanos: () => cpuNanos(pid, [plan.upstream]),
  }
  await drive(sessions, { ...settings, calls: 3000, maxMs: plan.warmMs })
  const { ok, perSecond, firstError } = await drive(sessions, { ...settings, calls: mostCalls, maxMs: 500 })
  if (ok === 0) throw new Error(`no call succeeded: ${firstError}`)
  const whole = Math.min(mostCalls, (perSecond * plan.sliceMs) / 1000)
  const slice = (part: number) =>
    drive(sessions, { ...settings, calls: Math.max(2 * callers, Math.round(whole * part)), maxMs: 4 * plan.sliceMs })
  return { sessions, slice }
}

function callParams({ prefix = '' }: Target, tool: string, text: string): object {
  return { name: `${prefix}${tool}`, arguments: tool === 'echo' ? { text } : {} }
}

function rowOf({ name }: Target, scenario: Scenario, pairs: readonly Pair[], failure: string | undefined): Row {
  const of = (member: keyof Omit<Driven, 'firstError'>) => median(pairs.map(({ own }) => own[member]))
  const why = failure ?? pairs.find(({ own }) => own.firstError !== undefined)?.own.firstError
  return {
    target: name,
    scenario: scenarioName(scenario),
    perSecond: of('perSecond'),
    ofDirect: median(pairs.map(({ own, direct }) => own.perSecond / direct.perSecond)),
    p50ms: of('p50ms'),
    p99ms: of('p99ms'),
    cpuMicros: of('cpuMicros'),
    errors: pairs.reduce((sum, { own }) => sum + own.errors, 0),
    ...(why === undefined ? {} : { why }),
  }
}

function failedRow({ name }: Target, scenario: Scenario, why: string): Row {
  return rowOf({ name, endpoint: '' }, scenario, [], why)
}
