import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as fc from 'fast-check'
import type { OperationState } from '../../flow/side-effect/operation.ts'
import { beginAttempt, clearAttempts, endAttempt } from './attempts.ts'
import { Database, type Row } from './database.ts'
import { FileVault } from '../vault.ts'
import { openLedger } from './open.ts'
import { ledgerFile } from './verify.ts'
import { edges, states } from '../../flow/side-effect/operation.ts'

const options = { repeatWindowMs: 600_000, reads: 'grouped', checkpointEvery: 1000, checkpointMs: 60_000 } as const

/** What the rules say of one operation, in the fewest words. */
interface Model {
  state: OperationState
  /** An attempt may have run, and nothing has been proved of it. */
  maybeRan: boolean
  openAttempt: boolean
  attempts: number
}

type Command =
  | { readonly kind: 'move'; readonly to: OperationState }
  | { readonly kind: 'attempt' }
  | { readonly kind: 'end'; readonly sent: 'no' | 'maybe' | 'yes' }
  | { readonly kind: 'clear' }

const command: fc.Arbitrary<Command> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('move' as const), to: fc.constantFrom(...states) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('attempt' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('end' as const), sent: fc.constantFrom('no', 'maybe', 'yes') }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const) }) },
)

const legal = new Set(edges.map(([a, b]) => `${a} ${b}`))

/** Whether the rules allow it; the model is changed where they do. */
function allowed(model: Model, it: Command): boolean {
  switch (it.kind) {
    case 'move':
      if (it.to === model.state) return true
      if (!legal.has(`${model.state} ${it.to}`)) return false
      if (it.to === 'dispatched' && !model.openAttempt) return false
      model.state = it.to
      return true
    case 'attempt':
      if (model.openAttempt || model.maybeRan) return false
      model.attempts++
      model.openAttempt = true
      return true
    case 'end':
      if (model.openAttempt && it.sent !== 'no') model.maybeRan = true
      model.openAttempt = false
      return true
    case 'clear':
      model.maybeRan = false
      return true
    default:
      return it satisfies never
  }
}

function obey(db: Database, operation: string, it: Command, attempts: number): void {
  switch (it.kind) {
    case 'move':
      db.statement('UPDATE operation SET state = ? WHERE op_id = ?').run(it.to, operation)
      return
    case 'attempt':
      return beginAttempt(db, operation, { n: attempts + 1, upstreamKey: 'k', deadlineMs: 1 }, 1)
    case 'end':
      return endAttempt(
        db,
        operation,
        { sent: it.sent, outcome: 'ended', errorKind: it.sent === 'no' ? 'E1' : 'E6' },
        2,
      )
    case 'clear':
      return clearAttempts(db, operation)
    default:
      return it satisfies never
  }
}

/** Runs random commands against the database and against the rules; both have to say the same. Throws with seed and path. */
function agree(plant: (db: Database) => void = () => {}, numRuns = 400): void {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-model-'))
  try {
    void openLedger(folder, options).close()
    const db = new Database(ledgerFile(folder), FileVault.open(folder))
    plant(db)
    let n = 0
    const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
    fc.assert(
      fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
        const operation = `op_${n++}`
        db.exec('BEGIN IMMEDIATE')
        try {
          db.statement(
            `INSERT INTO operation(op_id, tenant, principal, tool, effect, arguments_digest, scopes_digest, pin, policy_version,
             state, upstream_key, salt, created_at, updated_at)
             VALUES (?, 't', 'p', 'tool', 'once', ?, '', '', '', 'proposed', '', x'00', 0, 0)`,
          ).run(operation, operation.padStart(64, '0'))
          const model: Model = { state: 'proposed', maybeRan: false, openAttempt: false, attempts: 0 }
          for (const it of commands) {
            const before = { ...model }
            const may = allowed(model, it)
            let did = true
            try {
              obey(db, operation, it, before.attempts)
            } catch {
              did = false
            }
            assert.equal(did, may, `${JSON.stringify(it)} in ${JSON.stringify(before)}`)
            const row = db.statement('SELECT state FROM operation WHERE op_id = ?').get(operation) as Row
            assert.equal(row['state'], model.state)
          }
        } finally {
          db.exec('ROLLBACK')
        }
      }),
      { seed, numRuns },
    )
    db.close()
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

test('whatever is tried in whatever order, the database takes what the rules allow and nothing else', () => agree())

const planted: Record<string, string> = {
  'no trigger on the edges': 'DROP TRIGGER operation_state',
  'no trigger on another attempt': 'DROP TRIGGER attempt_again',
  'dispatched without an attempt': 'DROP TRIGGER operation_dispatched',
}
for (const [what, sql] of Object.entries(planted))
  test(`the same finds it when a guard is gone: ${what}`, () => {
    assert.throws(() => agree((db) => db.exec(sql), 5000), /Property failed/)
  })
