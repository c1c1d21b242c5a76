import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { processStat } from '../../src/sandbox/processes.ts'
import { makeSite } from '../fixtures/site.ts'
import { until } from '../hostile/attack.ts'
import { type Row, probeYaml, processesOf } from './fidelity.ts'

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'countersign.mjs')
const lives = (pid: number): boolean => !['Z', undefined].includes(processStat(pid)?.state)

/** Ends a gateway of its own with a signal, and looks 8 s long whether its server and the grandchild are gone. */
export async function measureEnding(t: TestContext, signal: 'SIGTERM' | 'SIGKILL'): Promise<Row> {
  const site = makeSite(t, (it) => `${probeYaml(it).replace('{', '{ "endpoint": { "port": 0 },')}\n`)
  const args = [launcher, 'up', '--config', site.config, '--home', site.home]
  const gateway = spawn(process.execPath, args, { stdio: 'ignore' })
  t.after(() => {
    if (gateway.exitCode === null && gateway.signalCode === null) gateway.kill('SIGKILL')
    for (const pid of processesOf(site).filter(lives)) process.kill(pid, 'SIGKILL')
  })
  await until('the server and its child run', () => processesOf(site).length >= 2, 60_000)
  const pids = processesOf(site)
  const exited = once(gateway, 'exit')
  gateway.kill(signal)
  await exited
  await until('none is left', () => !pids.some(lives), 8_000).catch(() => {})
  const left = pids.filter(lives).length
  const probe = `${signal}: a server that ignores the end of its input and SIGTERM, and its child`
  return { probe, wanted: 'none left', found: left === 0 ? 'none left' : `${left} left` }
}
