import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { mock, test } from 'node:test'
import { LedgerFault } from '../../src/flow/side-effect/ledger.ts'
import { Database } from '../../src/store/sqlite/database.ts'
import { FileVault } from '../../src/store/vault.ts'
import { ledgerFile } from '../../src/store/sqlite/verify.ts'
import { textMember } from '../../src/words/json.ts'
import { fixture, makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, httpFixture, openApproved, operationOf, scratch, until, wordFor } from '../hostile/attack.ts'

const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools: { write_note: { effect: once, risk: low } }
consent: { rules: [{ name: all pass, decision: allow }] }
`

test('F28: a database that does not take full synchronisation is not opened', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-issue-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  // oxlint-disable-next-line typescript/unbound-method
  const original = DatabaseSync.prototype.exec
  const weakened = mock.method(DatabaseSync.prototype, 'exec', function (this: DatabaseSync, sql: string) {
    original.call(this, sql.replaceAll('synchronous = FULL', 'synchronous = NORMAL'))
  })
  try {
    assert.throws(
      () => new Database(join(folder, 'ledger.db'), FileVault.open(folder)),
      (fault: unknown) => fault instanceof LedgerFault && /synchronous is 1/.test(fault.message),
    )
  } finally {
    weakened.mock.restore()
  }
  new Database(join(folder, 'ledger.db'), FileVault.open(folder)).close()
})

test('F30: while the ledger cannot be written no effect is sent, it is said and seen, and it heals by itself', async (t) => {
  const site = makeSite(t, yaml)
  const gateway = await openApproved(t, site)
  assert.equal(wordFor(await call(gateway, 'a/write_note', { name: 'one', text: '' })), 'answered:succeeded')
  // What a full disk does to a transaction: SQLite itself ends it.
  const other = new DatabaseSync(ledgerFile(site.home))
  other.exec("CREATE TRIGGER full BEFORE INSERT ON event BEGIN SELECT RAISE(ROLLBACK, 'disk is full'); END")
  for (const name of ['two', 'three'])
    assert.equal(wordFor(await call(gateway, 'a/write_note', { name, text: '' })), 'LEDGER_UNAVAILABLE')
  assert.deepEqual(effectsIn(site.effects), ['one'])
  const { ledger } = await gateway.control.status()
  assert.equal(ledger.state, 'unavailable')
  assert.match(ledger.why ?? '', /disk is full/)
  other.exec('DROP TRIGGER full')
  other.close()
  await until('the ledger is mended', async () => (await gateway.control.status()).ledger.state === 'ok')
  assert.equal(wordFor(await call(gateway, 'a/write_note', { name: 'two', text: '' })), 'answered:succeeded')
  assert.deepEqual(effectsIn(site.effects), ['one', 'two'])
  assert.equal((await gateway.control.verifyEvidence()).verdict, 'valid')
})

test('F01: where nobody listens any more it is proved that nothing was sent: every attempt is on record, and a repeat is not blocked', async (t) => {
  const effects = join(scratch(t), 'effects.log')
  const server = await httpFixture(t, 'honest', '--effects', effects)
  const site = makeSite(
    t,
    () => `
servers:
  a: { url: '${server.reach.url}', tools: { write_note: { effect: once, risk: low } } }
catalogue: { refresh: 1h }
consent: { rules: [{ name: all pass, decision: allow }] }
`,
  )
  const gateway = await openApproved(t, site)
  assert.equal(wordFor(await call(gateway, 'a/write_note', { name: 'one', text: '' })), 'answered:succeeded')
  await server[Symbol.asyncDispose]()
  const answer = await call(gateway, 'a/write_note', { name: 'two', text: '' })
  // Where the list is too old by now, the tool gate says it sooner, and there is no operation.
  if (wordFor(answer) === 'SERVER_UNAVAILABLE') return t.skip('the loss was noticed before the call')
  assert.equal(wordFor(answer), 'NOT_SENT')
  const operation = operationOf(answer)
  assert.equal((await gateway.control.operation(operation))?.state, 'expired')
  const kinds = (await gateway.control.evidence({ operation, limit: 50 })).map((record) => textMember(record, 'kind'))
  const attempts = kinds.filter((kind) => kind === 'op.dispatched').length
  assert.ok(attempts >= 1 && attempts <= 3)
  assert.equal(kinds.filter((kind) => kind === 'op.not_sent').length, attempts)
  assert.equal(kinds.at(-1), 'op.expired')
  assert.ok(
    ['SERVER_UNAVAILABLE', 'NOT_SENT'].includes(
      wordFor(await call(gateway, 'a/write_note', { name: 'two', text: '' })),
    ),
  )
  assert.deepEqual(effectsIn(effects), ['one'])
})
