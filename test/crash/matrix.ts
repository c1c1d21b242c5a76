import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { points, type Point } from '../../src/flow/points.ts'
import { startGateway, type RunningGateway } from '../../src/gateway/build.ts'
import { ControlClient } from '../../src/gateway/control/client.ts'
import { openHome } from '../../src/gateway/home.ts'
import { ownHome } from '../../src/gateway/ownership.ts'
import { loadConfig } from '../../src/config/load.ts'
import { verifyLedger } from '../../src/store/sqlite/verify.ts'
import { approveAll, makeSite, type Site } from '../fixtures/site.ts'
import { bankSite, booked } from '../faults/bank.ts'

export const behaviours = ['ok', 'silent', 'lost', 'late', 'slow', 'broken', 'exit'] as const
export const classes = ['once', 'keyed', 'idempotent'] as const

/** One place at which the gateway is killed, one thing that the upstream does, one class of effects, with a look-up or without. */
export interface Cell {
  readonly point: Point
  readonly behaviour: (typeof behaviours)[number]
  readonly effect: (typeof classes)[number]
  readonly lookUp: boolean
}

export interface Ended {
  readonly cell: Cell
  readonly killed: boolean
  /** Effects at the bank, by its own books. More than one is a duplicate. */
  readonly effects: number
  /** States of the operations at the end. */
  readonly states: readonly string[]
  readonly evidence: string
  /** What must never be, in words; empty where all holds. */
  readonly wrong: readonly string[]
}

export function cells(lookUps: readonly boolean[]): readonly Cell[] {
  return points.flatMap((point) =>
    behaviours.flatMap((behaviour) =>
      classes.flatMap((effect) => lookUps.map((lookUp) => ({ point, behaviour, effect, lookUp }))),
    ),
  )
}

export function nameOf({ point, behaviour, effect, lookUp }: Cell): string {
  return `killed at ${point}, the upstream is ${behaviour}, ${effect}, ${lookUp ? 'with' : 'without'} a look-up`
}

const key = '{ $operation: upstreamKey }'
const status = `reconcile: [{ by: status, tool: bank/payment, arguments: { key: ${key} }, expect: [{ at: /structuredContent/key, equals: ${key} }, { at: /structuredContent/kind, equals: pay }], settleMs: 20, maxExecutionMs: 1500 }]`
const script = join(import.meta.dirname, 'gateway.ts')
const WITHIN_MS = 60_000

/** Kills the gateway in the middle, starts it again, lets it find out, and lets the model repeat its call. */
export async function run(cell: Cell): Promise<Ended> {
  const profile = `effect: ${cell.effect}\nsoftDeadlineMs: 500\nhardDeadlineMs: 900\n${cell.lookUp ? status : ''}`
  const site = makeSite({ name: nameOf(cell) }, bankSite(profile, '', cell.effect === 'once' ? '' : ', --dedupe'))
  await approveAll(site)
  const killed = await callUntilDeath(site, cell)
  const home = ownHome(site.home)
  const gateway = await startGateway(loadConfig(site.config), home, { port: 0, background: true })
  try {
    await gateway.core.settled
    if (cell.lookUp) await untilKnown(gateway)
    const first = await statesOf(gateway)
    const before = booked(site).length
    await gateway.control.call(callOf(cell), AbortSignal.timeout(3_000)).catch(() => undefined)
    if (cell.lookUp) await untilKnown(gateway)
    const states = await statesOf(gateway)
    const evidence = (await gateway.control.verifyEvidence()).verdict
    return {
      cell,
      killed,
      effects: effectsOf(cell, site),
      states,
      evidence,
      wrong: wrongIn(cell, site, first, states, before, evidence),
    }
  } finally {
    await gateway.close()
    home.release()
  }
}

function wrongIn(
  cell: Cell,
  site: Site,
  first: readonly string[],
  last: readonly string[],
  before: number,
  evidence: string,
): readonly string[] {
  const wrong: string[] = []
  const effects = effectsOf(cell, site)
  if (before > 1) wrong.push(`${before} effects of one call`)
  if (effects > 1) wrong.push(`${effects} effects`)
  if (before === 1 && (first[0] === 'failed' || first[0] === 'reconciled_none'))
    wrong.push(`there was an effect, and the operation is ${first[0]}`)
  if (effects === 0 && last.some((state) => state === 'succeeded' || state === 'reconciled_effect'))
    wrong.push('there was no effect, and an operation says that there was')
  if (cell.lookUp && last.some((state) => state === 'unknown' || state === 'held'))
    wrong.push(`it needs a person: ${last.join(', ')}`)
  if (evidence !== 'valid' || verifyLedger(site.home).verdict !== 'valid') wrong.push(`the evidence is ${evidence}`)
  return wrong
}

/** What is `idempotent` may be repeated by whoever calls, since twice is once: what counts is what the world looks like. */
function effectsOf({ effect }: Cell, site: Site): number {
  const refs = booked(site).map(({ ref }) => ref)
  return effect === 'idempotent' ? new Set(refs).size : refs.length
}

function callOf({ behaviour }: Cell): Parameters<RunningGateway['control']['call']>[0] {
  const given = { ref: 'r', mode: behaviour, ms: 300 }
  return { target: { server: 'bank', name: 'pay' }, arguments: JSON.stringify(given), door: 'cli' }
}

/** Whether it died at the point; where the call never gets there it is killed when the call is over. */
async function callUntilDeath(site: Site, cell: Cell): Promise<boolean> {
  const child = spawn(process.execPath, [script, site.config, site.home, cell.point], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const dead = once(child, 'exit')
  await once(createInterface({ input: child.stdout }), 'line')
  let over = false
  const call = new ControlClient(openHome(site.home).controlSocket)
    .call(callOf(cell), AbortSignal.timeout(WITHIN_MS))
    .then(
      () => (over = true),
      () => undefined,
    )
  await Promise.race([dead, call])
  if (over) child.kill('SIGKILL')
  await dead
  return !over
}

/** Until nothing is open any more. An error that was answered is looked for when somebody asks. */
async function untilKnown(gateway: RunningGateway): Promise<void> {
  for (const end = Date.now() + WITHIN_MS; Date.now() < end;) {
    const open = await gateway.control.operations({ state: 'open', limit: 10 })
    if (open.length === 0) return
    for (const { id, standing } of open)
      if (standing === 'answered') await gateway.control.reconcileOperation(id, AbortSignal.timeout(5_000))
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

async function statesOf(gateway: RunningGateway): Promise<readonly string[]> {
  const operations = await gateway.control.operations({ limit: 50 })
  return operations.filter(({ effect }) => effect !== 'read').map(({ state }) => state)
}
