import assert from 'node:assert/strict'
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, before, beforeEach, test, type TestContext } from 'node:test'
import { ownHome } from '../../src/gateway/ownership.ts'
import { type OpenLedger, openLedger } from '../../src/store/sqlite/open.ts'
import { verifyLedger } from '../../src/store/sqlite/verify.ts'
import { approveOffered, makeSite, type Site } from '../fixtures/site.ts'
import { call, effectsIn, start, wordFor } from './attack.ts'

const wild = join(import.meta.dirname, 'servers', 'wild.ts')
const yaml = ({ effects }: Site): string => `
servers:
  a:
    command: node
    args: [${wild}, --effects, ${effects}]
    tools:
      pay: { effect: once, risk: low, softDeadlineMs: 100, hardDeadlineMs: 100, repeat: allow }
      paid: { effect: read, risk: low }
consent:
  wait: 50ms
  rules:
    - { name: pay passes, tool: a/pay, decision: allow }
    - { name: reads pass, effect: [read], decision: allow }
    - { name: a person, decision: ask, channels: [cli], selfApproval: false, approvers: [bob], expires: 1h }
`
const silent = { key: 'silent', mode: 'silent' }
const asked = { result: { content: [] } }
const ofUnknown = "WHERE state = 'unknown'"
const ENDS = ['', '-wal', '-shm']

/** A home with a settled call, one that nobody answered, a read, and a question that waits. Nothing runs any more. */
const wholeRun = { after } as unknown as TestContext
const site = makeSite(wholeRun, yaml)
const isOfLedger = (name: string): boolean => /^(ledger\.db|evidence\.)/.test(name)
const whole = new Map<string, Buffer>()
let effects: Buffer

before(async () => {
  const running = await start(wholeRun, site)
  const { gateway } = running
  await approveOffered(gateway)
  for (let n = 0; n < 4; n++) await call(gateway, 'a/pay', { key: `k${n}`, mode: 'ok' })
  assert.equal(wordFor(await call(gateway, 'a/pay', silent)), 'unknown')
  assert.equal(wordFor(await call(gateway, 'a/paid', { key: 'k1' })), 'answered:succeeded')
  assert.equal(wordFor(await call(gateway, 'a/say', asked)), 'APPROVAL_WAITING')
  await running.stop()
  assert.equal(verifyLedger(site.home).verdict, 'valid')
  for (const name of readdirSync(site.home).filter(isOfLedger)) whole.set(name, readFileSync(join(site.home, name)))
  effects = readFileSync(site.effects)
})

/** The home as it was when it was stopped. */
function restore(): void {
  for (const name of readdirSync(site.home).filter(isOfLedger)) rmSync(join(site.home, name))
  for (const [name, bytes] of whole) writeFileSync(join(site.home, name), bytes, { mode: 0o600 })
  writeFileSync(site.effects, effects)
}
beforeEach(restore)

/** Whatever was done to the home: an effect that is blocked stays blocked, or the gateway is closed to calls. */
async function staysSafe(t: TestContext, what: string): Promise<'closed' | 'valid'> {
  const earlier = effectsIn(site.effects)
  let running
  try {
    running = await start(t, site)
  } catch {
    return 'closed'
  }
  const { gateway } = running
  try {
    const status = await gateway.control.status()
    const fresh = wordFor(await call(gateway, 'a/pay', { key: 'fresh', mode: 'ok' }))
    if (status.ledger.state !== 'ok') {
      assert.equal(fresh, 'LEDGER_ROLLED_BACK', what)
      assert.deepEqual(effectsIn(site.effects), earlier, what)
      return 'closed'
    }
    assert.equal(fresh, 'answered:succeeded', what)
    assert.equal(wordFor(await call(gateway, 'a/pay', silent)), 'OUTCOME_UNKNOWN', `${what}: the blocked call`)
    assert.equal(
      wordFor(await call(gateway, 'a/say', asked)),
      'APPROVAL_WAITING',
      `${what}: the call that waits for bob`,
    )
    assert.deepEqual(effectsIn(site.effects), [...earlier, 'fresh'], what)
    return 'valid'
  } finally {
    await running.stop()
  }
}

function sql(text: string): void {
  const db = new DatabaseSync(join(site.home, 'ledger.db'))
  const triggers = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
  for (const { name } of triggers) db.exec(`DROP TRIGGER ${String(name)}`)
  db.exec(text)
  for (const { sql } of triggers) db.exec(String(sql))
  db.close()
}

function guard(text: string): void {
  const db = new DatabaseSync(join(site.home, 'ledger.db'))
  db.exec(text)
  db.close()
}

test('untouched, it goes on', async (t) => {
  assert.equal(await staysSafe(t, 'untouched'), 'valid')
})

test('a second gateway on the same home is refused, and the first one notices nothing', async (t) => {
  const { gateway } = await start(t, site)
  assert.throws(() => {
    const home = ownHome(site.home)
    home.release()
  }, /HOME_BUSY|owned by/)
  assert.equal(wordFor(await call(gateway, 'a/pay', { key: 'k', mode: 'ok' })), 'answered:succeeded')
})

const damages: Readonly<Record<string, () => void>> = {
  'the ledger is deleted': () => ENDS.forEach((end) => rmSync(join(site.home, `ledger.db${end}`), { force: true })),
  'its tail is cut off': () => sql('DELETE FROM event WHERE seq > (SELECT max(seq) - 3 FROM event)'),
  'one event is edited': () =>
    sql(
      "UPDATE event SET record = replace(record, 'a/pay', 'a/xxx') WHERE seq = (SELECT min(seq) FROM event WHERE record LIKE '%a/pay%')",
    ),
  'an operation is said to have failed': () => sql(`UPDATE operation SET state = 'failed' ${ofUnknown}`),
  'an operation is deleted': () => sql(`DELETE FROM payload; DELETE FROM attempt; DELETE FROM operation ${ofUnknown}`),
}
const edits: Readonly<Record<string, () => void>> = {
  'an unknown is said to have been answered': () => sql(`UPDATE operation SET standing = 'answered' ${ofUnknown}`),
  'an unknown is given to somebody else': () => sql(`UPDATE operation SET principal = 'eve' ${ofUnknown}`),
  'an unknown is said to be a read': () => sql(`UPDATE operation SET effect = 'read' ${ofUnknown}`),
  'an unknown is said to be of other arguments': () =>
    sql(`UPDATE operation SET arguments_digest = '${'f'.repeat(64)}' ${ofUnknown}`),
  'a reason is changed': () => sql(`UPDATE operation SET why = 'it was fine' ${ofUnknown}`),
  'a time is changed': () => sql(`UPDATE operation SET created_at = created_at + 1 ${ofUnknown}`),
  'a count is changed': () => sql(`UPDATE operation SET attempts = 2 ${ofUnknown}`),
  'a guard is taken out': () => guard('DROP TRIGGER operation_state'),
  'a unique key is taken out': () => guard('DROP INDEX operation_open'),
  'a legal edge is added': () => guard("INSERT INTO transition VALUES ('unknown', 'failed')"),
  'an approval is granted by hand': () =>
    sql("UPDATE approval SET state = 'granted', decided_by = 'bob', channel = 'cli', decided_at = 1"),
  'an approval is denied by hand': () =>
    sql("UPDATE approval SET state = 'denied', decided_by = 'bob', channel = 'cli', decided_at = 1, why = ''"),
}
for (const [what, damage] of Object.entries({ ...damages, ...edits }))
  test(`when ${what} while it is stopped, the next start says so or is not misled`, async (t) => {
    damage()
    assert.equal(await staysSafe(t, what), 'closed')
  })

test('an old copy that is put back is told from the newer one, on this start and on the next', async (t) => {
  const copy = join(site.folder, 'copy')
  mkdirSync(copy)
  for (const name of readdirSync(site.home).filter((it) => it.startsWith('ledger.db')))
    copyFileSync(join(site.home, name), join(copy, name))
  const running = await start(t, site)
  await call(running.gateway, 'a/pay', { key: 'newer', mode: 'ok' })
  await running.stop()
  for (const name of readdirSync(site.home).filter((it) => it.startsWith('ledger.db'))) rmSync(join(site.home, name))
  for (const name of readdirSync(copy)) copyFileSync(join(copy, name), join(site.home, name))
  assert.equal(await staysSafe(t, 'first start'), 'closed')
  assert.equal(await staysSafe(t, 'second start'), 'closed')
})

test('a ledger that is gone stays gone on the second start too', async (t) => {
  for (const end of ENDS) rmSync(join(site.home, `ledger.db${end}`), { force: true })
  assert.equal(await staysSafe(t, 'first start'), 'closed')
  assert.equal(await staysSafe(t, 'second start'), 'closed')
})

test('with the head gone the checkpoints still tell, and with both gone a cut ledger does not pass for a whole one', async (t) => {
  rmSync(join(site.home, 'evidence.head'))
  await staysSafe(t, 'no head')
  restore()
  rmSync(join(site.home, 'evidence.head'))
  rmSync(join(site.home, 'evidence.checkpoints'))
  sql('DELETE FROM event WHERE seq > 3; DELETE FROM checkpoint WHERE size > 3')
  await staysSafe(t, 'cut, and nothing outside')
})

/** Everything that the ledger holds, and whether its indexes tell the same. */
function dump(): string {
  const db = new DatabaseSync(join(site.home, 'ledger.db'), { readOnly: true })
  try {
    const tables = ['sqlite_master', 'meta', 'transition', 'operation', 'payload', 'approval', 'event', 'checkpoint']
    const rows = tables.map((table) => db.prepare(`SELECT * FROM ${table}`).all())
    // When a look is due is a plan and no fact; every start may make it anew.
    for (const row of rows[3]!) delete row['next_due']
    // A number that makes a commit have something to sync.
    rows[1] = rows[1]!.filter(({ k }) => k !== 'synced')
    return JSON.stringify([...rows, db.prepare('PRAGMA integrity_check').all()])
  } catch (fault) {
    return String(fault)
  } finally {
    db.close()
  }
}

test('one byte of the ledger, turned at fifty places: closed, or nothing has changed', async (t) => {
  const file = join(site.home, 'ledger.db')
  const bytes = readFileSync(file)
  const unharmed = dump()
  const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
  const places = Number(process.env['PLACES'] ?? 50)
  let state = seed
  const next = (below: number): number => (state = (state * 48271 + 11) % 2147483647) % below
  const said = { closed: 0, unharmed: 0 }
  const misled: string[] = []
  for (let n = 0; n < places; n++) {
    restore()
    const damaged = Buffer.from(bytes)
    const at = next(bytes.length)
    const bit = next(8)
    damaged[at] = damaged[at]! ^ (1 << bit)
    writeFileSync(file, damaged)
    let open: OpenLedger
    try {
      open = openLedger(site.home, {
        repeatWindowMs: 600_000,
        reads: 'grouped',
        checkpointEvery: 1000,
        checkpointMs: 10_000,
      })
    } catch {
      said.closed++
      continue
    }
    const { verdict } = open.judgement
    const closed = open.ledger.closed !== undefined
    if (verdict !== 'valid' && closed) said.closed++
    else if (!closed && dump() === unharmed) said.unharmed++
    else misled.push(`byte ${at}, bit ${bit}`)
    await open.close()
  }
  t.diagnostic(`closed ${said.closed}, unharmed ${said.unharmed}, seed ${seed}`)
  assert.deepEqual(misled, [], `seed ${seed}`)
})

test('a ledger that is cut in half is closed', async (t) => {
  const file = join(site.home, 'ledger.db')
  truncateSync(file, Math.floor(statSync(file).size / 2))
  assert.equal(await staysSafe(t, 'cut in half'), 'closed')
})
