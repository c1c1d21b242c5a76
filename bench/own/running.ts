import { spawn, type ChildProcess } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { filled, type Plan, type Target } from '../target.ts'
import { treeOf } from './processes.ts'
import { openSession, type Session } from './session.ts'

/** A target whose placeholders are filled, and the process that answers for it. */
export interface Running {
  readonly target: Target
  readonly pid: number
  stop(): Promise<void>
}

const startMs = 60_000
const stopMs = 3000

export async function startUpstream({ upstream, upstreamPort, upstreamTools }: Plan): Promise<Running> {
  const args = [upstream, '--transport', 'http', '--port', String(upstreamPort), '--tools', String(upstreamTools)]
  const target = { name: 'upstream', endpoint: urlOf(upstreamPort) }
  return await started(target, spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }))
}

/** Starts it, and waits until a call through it comes back. */
export async function startTarget(raw: Target, plan: Plan, upstream: Running): Promise<Running> {
  const work = join(plan.work, raw.name.replaceAll(/\W+/g, '-'))
  mkdirSync(work, { recursive: true })
  const target = filled(raw, {
    port: String(await freePort()),
    work,
    node: process.execPath,
    upstreamUrl: urlOf(plan.upstreamPort),
    upstreamJs: plan.upstream,
    upstreamTools: String(plan.upstreamTools),
  })
  if (target.start === undefined) return { target, pid: upstream.pid, stop: () => Promise.resolve() }
  for (const { path, text } of target.files ?? []) writeFileSync(path, text)
  const env = { ...process.env, ...target.env }
  const [program, ...args] = target.start
  return await started(target, spawn(program!, args, { env, cwd: work, stdio: ['ignore', 'pipe', 'pipe'] }))
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  return port
}

function urlOf(port: number): string {
  return `http://127.0.0.1:${port}/mcp`
}

async function started(target: Target, child: ChildProcess): Promise<Running> {
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (part: Buffer) => (said = (said + part.toString('utf8')).slice(-500)))
  const kill = () => killTree(child)
  process.once('exit', kill)
  const stop = async (): Promise<void> => {
    process.off('exit', kill)
    if (child.exitCode !== null || child.signalCode !== null) return
    const tree = treeOf(child.pid!)
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await Promise.race([ended, pause(stopMs, undefined, { ref: false })])
    killAll(tree)
  }
  const deadline = performance.now() + startMs
  for (;;) {
    try {
      await tryCall(target)
      return { target, pid: child.pid!, stop }
    } catch (fault) {
      const ended = child.exitCode ?? child.signalCode
      if (ended === null && performance.now() < deadline) await pause(50)
      else {
        await stop()
        const how = ended === null ? `not ready: ${String(fault)}` : `ended with ${ended}`
        throw new Error(`${target.name}: ${how}${said === '' ? '' : `\n${said}`}`, { cause: fault })
      }
    }
  }
}

async function tryCall(target: Target): Promise<void> {
  const session: Session = await openSession({ ...target, timeoutMs: 5000 })
  const slot = session.slot()
  try {
    const answer = await slot.call('tools/call', { name: `${target.prefix ?? ''}echo`, arguments: { text: 'ready?' } })
    const text = answer.toString('utf8')
    if (!text.includes('ready?') || text.includes('"isError":true')) throw new Error(text.slice(0, 300))
  } finally {
    slot.close()
    await session.close()
  }
}

function killTree({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null && signalCode === null) killAll(treeOf(pid))
}

function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}
