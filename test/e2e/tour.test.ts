import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtempSync, rmSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { test } from 'node:test'
import { verifyLedger } from '../../src/store/sqlite/verify.ts'

const root = join(import.meta.dirname, '..', '..')

/** Processes whose environment or arguments name the folder: the gateway's children among them. */
function processesOf(marker: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').includes(marker)
      } catch {
        return false
      }
    })
    .map(Number)
}

test(
  'npm start plays the whole tour on real servers, and Ctrl-C leaves no process behind',
  { timeout: 120_000 },
  async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'countersign-tour-'))
    t.after(() => rmSync(home, { recursive: true, force: true, maxRetries: 5 }))
    const child = spawn('npm', ['start', '--', '--port', '0', '--home', join(home, 'h')], {
      cwd: root,
      env: { ...process.env, COUNTERSIGN_TOUR_TEST: home, NO_COLOR: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    })
    let out = ''
    child.stdout.on('data', (part: Buffer) => (out += part.toString('utf8')))
    child.stderr.on('data', (part: Buffer) => (out += part.toString('utf8')))
    const ended = new Promise<void>((resolve) => child.on('close', () => resolve()))
    t.after(() => {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid!, 'SIGKILL')
    })
    for (const end = Date.now() + 90_000; !out.includes('Ctrl-C ends it'); await pause(100)) {
      if (Date.now() > end) assert.fail(`the tour did not come to its end:\n${out}`)
    }
    assert.match(out, /The model is scripted/)
    // One passes, with what each gate bound and stored.
    assert.match(out, /→ succeeded, acceptance not_required: \{"location":"Lisbon"/)
    assert.match(out, /states +proposed → authorised → dispatched → succeeded/)
    // One is refused for its scope.
    assert.match(out, /resource +refuse +SCOPE_OUTSIDE/)
    // One waits for a person, and nobody is here.
    assert.match(out, /consent +ask/)
    assert.match(out, /a yes is needed, and nobody is at this terminal/)
    assert.ok(!existsSync(join(root, 'examples/quickstart/workspace/tour.md')) || !out.includes('Successfully wrote'))
    // One loses its upstream and is reconciled from what the world shows.
    assert.match(out, /→ unknown: .*It is not sent again/)
    assert.match(out, /reconciled_effect: .*"method":"read-back"/)
    for (const client of ['Claude Code', 'VS Code', 'Cursor']) assert.ok(out.includes(client), client)
    assert.ok(processesOf(home).length > 0)
    const told = performance.now()
    process.kill(-child.pid!, 'SIGINT')
    await ended
    // Far more than it takes, and far less than the longest wait of the tour, which nothing may sit out.
    assert.ok(performance.now() - told < 10_000, `it took ${Math.round(performance.now() - told)} ms to end`)
    for (const end = Date.now() + 10_000; processesOf(home).length > 0; await pause(50)) {
      if (Date.now() > end) assert.fail(`left behind: ${processesOf(home).join()}`)
    }
    assert.equal(verifyLedger(join(home, 'h')).verdict, 'valid')
  },
)
