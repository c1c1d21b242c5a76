import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync, readFileSync, copyFileSync, existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import { canonical } from '../../words/canonical.ts'
import { digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import { action, type AuthorisedAction } from '../../flow/action/index.ts'
import { type Question } from '../../flow/consent/consented.ts'
import { unruled } from '../../flow/consent/rules.ts'
import { edges, states } from '../../flow/side-effect/operation.ts'
import { undeclared } from '../../flow/tool/profile.ts'
import { verifyExport } from '../../verifier/index.ts'
import { openLedger, type OpenLedger } from './open.ts'
import { ledgerFile, verifyLedger } from './verify.ts'

const options = { repeatWindowMs: 600_000, reads: 'grouped', checkpointEvery: 1000, checkpointMs: 60_000 } as const

function home(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-ledger-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

function open(t: TestContext, folder: string): OpenLedger {
  const opened = openLedger(folder, options)
  t.after(() => opened.close())
  return opened
}

function actionOn(
  args: JsonObject,
  extra: { key?: string; approval?: string; effect?: 'once' | 'read'; principal?: string } = {},
): AuthorisedAction {
  const text = canonical(args)
  const hold = { id: 1, wallMs: Infinity, resultBytes: Infinity, settle: () => {}, release: () => {} }
  const verdict = action.judge(
    {
      proposal: {
        id: 'prp_1',
        target: { kind: 'tool', server: 'notes', name: 'add' },
        arguments: args,
        canonical: text,
        digest: digest(text),
        origin: { door: 'cli', ...(extra.key === undefined ? {} : { requestKey: extra.key }) },
        traceId: '1'.repeat(32),
        receivedAt: Date.now(),
      },
      principal: { id: extra.principal ?? 'local', tenant: 'local', kind: 'user', groups: [], proof: 'socket' },
      tool: {
        kind: 'tool',
        key: 'notes/add',
        server: 'notes',
        name: 'add',
        exportedName: 'notes__add',
        pin: digest('pin'),
        serverIdentity: digest('server'),
        serverVersion: '1',
        definition: {},
        profile: { ...undeclared, effect: extra.effect ?? 'once' },
        checkArguments: () => [],
      },
      scopes: [],
      scopesDigest: digest('[]'),
      policyVersion: 'v1',
      consent:
        extra.approval === undefined
          ? { kind: 'not-needed', rule: 'test' }
          : { kind: 'approved', approval: extra.approval, by: 'ana', channel: 'cli' },
      repeatOf: undefined,
      hold,
    },
    {},
    AbortSignal.timeout(1000),
  )
  assert.ok(!(verdict instanceof Promise) && verdict.kind === 'pass')
  return verdict.next
}

async function claimed(opened: OpenLedger, args: JsonObject): Promise<string> {
  const claim = await opened.ledger.claim(actionOn(args), [], () => true)
  assert.equal(claim.kind, 'claimed')
  return claim.kind === 'claimed' ? claim.operation : ''
}

const answer = Buffer.from('{"content":[]}')

test('the database refuses every edge that the state machine does not have, and takes every one that it has', (t) => {
  const folder = home(t)
  void openLedger(folder, options).close()
  const legal = new Set(edges.map(([a, b]) => `${a} ${b}`))
  assert.equal(legal.size, 32)
  const db = new DatabaseSync(ledgerFile(folder))
  t.after(() => db.close())
  db.exec('DROP TRIGGER operation_birth')
  let n = 0
  for (const from of states) {
    for (const to of states) {
      if (from === to) continue
      const id = `op_${n++}`
      db.prepare(
        `INSERT INTO operation(op_id, tenant, principal, tool, effect, arguments_digest, scopes_digest, pin, policy_version, state, upstream_key, salt, created_at, updated_at)
         VALUES (?, 't', 'p', 'tool', 'once', ?, '', '', '', ?, '', x'00', 0, 0)`,
      ).run(id, digest(id), from)
      // A dispatched operation has an open attempt, or it was never dispatched.
      db.prepare(`INSERT INTO attempt(op_id, n, upstream_key, started_at, deadline_at) VALUES (?, 1, '', 0, 0)`).run(id)
      const change = (): unknown => db.prepare('UPDATE operation SET state = ? WHERE op_id = ?').run(to, id)
      if (legal.has(`${from} ${to}`)) change()
      else assert.throws(change, /illegal transition/, `${from} -> ${to}`)
    }
  }
})

test('an operation cannot be born settled, nor removed, and an event cannot be changed', async (t) => {
  const folder = home(t)
  const opened = openLedger(folder, options)
  await claimed(opened, { n: 1 })
  await opened.close()
  const db = new DatabaseSync(ledgerFile(folder))
  t.after(() => db.close())
  assert.throws(() => db.exec("UPDATE event SET record = '{}'"), /append only/)
  assert.throws(() => db.exec('DELETE FROM event'), /append only/)
  assert.throws(() => db.exec('DELETE FROM operation'), /operations are kept|FOREIGN KEY/)
  assert.throws(
    () =>
      db.exec(
        `INSERT INTO operation(op_id, tenant, principal, tool, effect, arguments_digest, scopes_digest, pin, policy_version, state, upstream_key, salt, created_at, updated_at)
         SELECT 'op_x', tenant, principal, tool, 'once', arguments_digest, 'other', pin, policy_version, 'succeeded', '', salt, 0, 0 FROM operation`,
      ),
    /illegal first state/,
  )
})

test('of two claims for one and the same call one is claimed and the other is told that it runs', async (t) => {
  const opened = open(t, home(t))
  const claims = await Promise.all(
    Array.from({ length: 8 }, () => opened.ledger.claim(actionOn({ title: 'x' }), [], () => true)),
  )
  assert.equal(claims.filter(({ kind }) => kind === 'claimed').length, 1)
  assert.deepEqual(
    claims.filter(({ kind }) => kind === 'refuse').map((claim) => ('code' in claim ? claim.code : '')),
    Array.from({ length: 7 }, () => 'IN_PROGRESS'),
  )
})

test('the same key answers with the recorded result, and with other arguments is refused without telling whose it is', async (t) => {
  const { ledger } = open(t, home(t))
  const key = 'key-0123456789abcdef'
  const first = await ledger.claim(actionOn({ n: 1 }, { key }), [], () => true)
  assert.ok(first.kind === 'claimed')
  await ledger.settle(first.operation, { state: 'succeeded', errorKind: 'E4', result: answer, wallMs: 3 }, [])
  const again = await ledger.claim(actionOn({ n: 1 }, { key }), [], () => true)
  assert.ok(again.kind === 'settled')
  assert.deepEqual(Buffer.from(again.result!), answer)
  const other = await ledger.claim(actionOn({ n: 2 }, { key }), [], () => true)
  assert.deepEqual(other, { kind: 'refuse', code: 'KEY_REUSED', facts: {} })
  const somebodyElse = await ledger.claim(actionOn({ n: 1 }, { key, principal: 'eve' }), [], () => true)
  assert.deepEqual(somebodyElse, { kind: 'refuse', code: 'KEY_REUSED', facts: {} })
})

test('an approval is used by one operation, and a claim that cannot use it leaves nothing behind', async (t) => {
  const { ledger } = open(t, home(t))
  const question: Question = {
    binding: {
      tenant: 'local',
      principal: 'local',
      tool: 'notes/add',
      pin: digest('pin'),
      argumentsDigest: digest('{}'),
      scopesDigest: digest('[]'),
      risk: 'high',
      policyVersion: 'v1',
    },
    bindingDigest: digest('binding'),
    rule: { ...unruled, selfApproval: true },
    text: 'may it?',
    callId: undefined,
  }
  const asked = await ledger.ask(question, '{}', Date.now())
  assert.equal((await ledger.ask(question, '{}', Date.now())).id, asked.id)
  await ledger.decide(asked.id, { by: 'ana', channel: 'cli', granted: true, why: '' }, Date.now())
  const [one, two] = await Promise.all([
    ledger.claim(actionOn({ n: 1 }, { approval: asked.id }), [], () => true),
    ledger.claim(actionOn({ n: 2 }, { approval: asked.id }), [], () => true),
  ])
  assert.equal(one.kind, 'claimed')
  assert.ok(two.kind === 'refuse' && two.code === 'AUTHORISATION_STALE')
  assert.equal(ledger.list({ limit: 10 }).length, 1)
  assert.equal(ledger.approval(asked.id)?.state, 'used')
})

test('a claim is refused when the policy changed between the judgement and the transaction', async (t) => {
  const { ledger } = open(t, home(t))
  const claim = await ledger.claim(actionOn({}), [], () => false)
  assert.ok(claim.kind === 'refuse' && claim.code === 'AUTHORISATION_STALE')
  assert.equal(ledger.list({ limit: 10 }).length, 0)
})

test('what was under way when the process ended is unknown after the next start, and recovering again changes nothing', async (t) => {
  const folder = home(t)
  const first = openLedger(folder, options)
  const operation = await claimed(first, { n: 1 })
  // No close: the process is gone. A copy of the files as they lie stands for the next start.
  const next = home(t)
  for (const file of ['ledger.db', 'ledger.db-wal', 'evidence.head', 'evidence.checkpoints'])
    if (existsSync(join(folder, file))) copyFileSync(join(folder, file), join(next, file))
  const { cpSync } = await import('node:fs')
  cpSync(join(folder, 'keys'), join(next, 'keys'), { recursive: true })
  await first.close()
  const second = openLedger(next, options)
  assert.deepEqual(second.recovered, [operation])
  assert.deepEqual(
    [second.ledger.find(operation)?.state, second.ledger.find(operation)?.standing],
    ['unknown', 'silent'],
  )
  await second.close()
  const third = open(t, next)
  assert.deepEqual(third.recovered, [])
  assert.equal(verifyLedger(next).verdict, 'valid')
  const repeated = await third.ledger.claim(actionOn({ n: 1 }), [], () => true)
  assert.ok(repeated.kind === 'refuse' && repeated.code === 'OUTCOME_UNKNOWN')
})

test('a changed byte, a cut tail, a changed row, a changed payload and an old copy are each told from a sound ledger', async (t) => {
  const folder = home(t)
  const opened = openLedger(folder, options)
  for (let n = 0; n < 5; n++) {
    const operation = await claimed(opened, { n, text: 'pay the invoice' })
    await opened.ledger.settle(operation, { state: 'succeeded', errorKind: 'E4', result: answer, wallMs: 1 }, [])
  }
  await opened.close()
  const old = readFileSync(ledgerFile(folder))
  const again = openLedger(folder, options)
  await claimed(again, { n: 99 })
  await again.close()
  const good = readFileSync(ledgerFile(folder))
  assert.equal(verifyLedger(folder).verdict, 'valid')
  const damage = (sql: string): string => {
    writeFileSync(ledgerFile(folder), good)
    const db = new DatabaseSync(ledgerFile(folder))
    const guards = db.prepare("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").all()
    for (const { name } of guards) db.exec(`DROP TRIGGER ${String(name)}`)
    db.exec(sql)
    for (const { sql: guard } of guards) db.exec(String(guard))
    db.close()
    const judged = verifyLedger(folder)
    assert.equal(judged.verdict, 'tampered', sql)
    return judged.why.join()
  }
  assert.match(
    damage("UPDATE event SET record = replace(record, 'succeeded', 'succeedee') WHERE seq = 3"),
    /record 3 has another leaf|does not follow/,
  )
  assert.match(damage('DELETE FROM event WHERE seq >= 8'), /cut off|rows of|events say/)
  assert.match(damage('DELETE FROM event WHERE seq = 4'), /record 4 is missing/)
  assert.match(damage("UPDATE operation SET state = 'failed' WHERE state = 'succeeded'"), /its events say "succeeded"/)
  assert.match(damage("UPDATE payload SET body = x'7b7d' WHERE role = 'result'"), /not what was committed to/)
  writeFileSync(ledgerFile(folder), old)
  const judged = verifyLedger(folder)
  assert.equal(judged.verdict, 'tampered')
  assert.match(judged.why.join(), /old copy/)
  assert.equal(openLedgerVerdict(t, folder), 'tampered')
})

function openLedgerVerdict(t: TestContext, folder: string): string {
  return open(t, folder).judgement.verdict
}

test('an export verifies by itself; one changed byte, a cut tail and a changed count do not', async (t) => {
  const folder = home(t)
  const opened = open(t, folder)
  for (let n = 0; n < 4; n++) {
    const operation = await claimed(opened, { n })
    await opened.ledger.settle(operation, { state: 'succeeded', errorKind: 'E4', result: answer, wallMs: 1 }, [])
  }
  const lines: string[] = []
  for await (const line of opened.exportLines()) lines.push(line)
  const file = join(folder, 'export.jsonl')
  const judge = async (changed: readonly string[]): Promise<string> => {
    writeFileSync(file, `${changed.join('\n')}\n`)
    return (await verifyExport(file)).verdict
  }
  assert.equal(await judge(lines), 'valid')
  assert.equal(await judge(lines.map((line, n) => (n === 3 ? line.replace('"at":1', '"at":2') : line))), 'tampered')
  assert.equal(await judge(lines.slice(0, -1)), 'incomplete')
  assert.equal(await judge([...lines.slice(0, -2), lines.at(-1)!]), 'tampered')
  assert.equal(await judge(lines.slice(1)), 'unjudgeable')
  const trusted = readFileSync(join(folder, 'keys', 'evidence.pub.pem'), 'utf8')
  writeFileSync(file, `${lines.join('\n')}\n`)
  assert.equal((await verifyExport(file, trusted)).verdict, 'valid')
})

test('reads are committed before they resolve and synced soon after, without a sync of their own', async (t) => {
  const folder = home(t)
  const opened = open(t, folder)
  await opened.ledger.read(
    actionOn({ q: 1 }, { effect: 'read' }),
    'op_read',
    { state: 'succeeded', errorKind: 'E4', result: answer, wallMs: 1 },
    [],
  )
  const other = new DatabaseSync(ledgerFile(folder), { readOnly: true })
  t.after(() => other.close())
  assert.equal(other.prepare("SELECT count(*) AS n FROM event WHERE kind = 'op.read'").get()!['n'], 1)
  assert.equal(opened.ledger.find('op_read')?.state, 'succeeded')
  assert.deepEqual(
    opened.ledger.spentSince(0).map(({ effect, calls, resultBytes }) => [effect, calls, resultBytes]),
    [['read', 1, answer.length]],
  )
  const before = opened.size()
  await new Promise<void>((resolve) => {
    const look = (): void => {
      const row = other.prepare("SELECT v FROM meta WHERE k = 'synced'").get()
      if (row !== undefined && Number(row['v']) >= before) resolve()
      else setTimeout(look, 5)
    }
    look()
  })
})

test('a key whose call provably never left may be used again, and then names one operation as before', async (t) => {
  const { ledger } = open(t, home(t))
  const key = 'key-0123456789abcdef'
  const first = await ledger.claim(actionOn({ n: 1 }, { key }), [], () => true)
  assert.ok(first.kind === 'claimed')
  await ledger.notSent(first.operation, 'nobody listens')
  await ledger.giveUp(first.operation, 'nobody listens')
  const second = await ledger.claim(actionOn({ n: 1 }, { key }), [], () => true)
  assert.ok(second.kind === 'claimed')
  const third = await ledger.claim(actionOn({ n: 1 }, { key }), [], () => true)
  assert.ok(third.kind === 'refuse' && third.code === 'IN_PROGRESS')
})
