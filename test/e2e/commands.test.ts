import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { approveAll, fixture, makeSite, type Site } from '../fixtures/site.ts'

const launcher = join(import.meta.dirname, '..', '..', 'bin', 'countersign.mjs')

function yaml({ effects }: Site): string {
  return `
endpoint: { port: 0 }
roots: { site: . }
servers:
  notes:
    command: node
    args: [${fixture('honest')}, --effects, ${effects}]
    tools:
      echo: { effect: read, risk: low, scopes: [{ kind: path, from: /text, access: read, base: site }] }
      write_note: { effect: once, risk: low }
      fail: { effect: once, risk: low }
consent: { wait: 1s, rules: [{ name: notes ask, tool: notes/write_note, decision: ask, channels: [cli] }, { name: all pass, decision: allow }] }
`
}

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function countersign(site: Site, ...words: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [launcher, ...words, '--config', site.config, '--home', site.home])
  let out = ''
  let err = ''
  child.stdout.on('data', (part: Buffer) => (out += part.toString('utf8')))
  child.stderr.on('data', (part: Buffer) => (err += part.toString('utf8')))
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })))
}

test('a call outside its scope is refused on stdout with code, next step and exit 3; inside it answers with exit 0', async (t) => {
  const site = makeSite(t, yaml)
  await approveAll(site)
  t.after(() => countersign(site, 'stop'))
  const outside = await countersign(site, 'call', 'notes/echo', '--args', '{"text":"/etc/hostname"}', '--json')
  assert.equal(outside.code, 3)
  const refusal = JSON.parse(outside.out) as { kind: string; code: string; next: string }
  assert.deepEqual([refusal.kind, refusal.code], ['refused', 'SCOPE_OUTSIDE'])
  assert.match(refusal.next, /Stay inside/)
  const inside = await countersign(site, 'call', 'notes/echo', '--args', '{"text":"a.txt"}', '--json')
  assert.equal(inside.code, 0)
  assert.deepEqual((JSON.parse(inside.out) as { result: { content: unknown } }).result.content, [
    { type: 'text', text: 'a.txt' },
  ])
  const waiting = await countersign(site, 'call', 'notes/write_note', '--args', '{"name":"a","text":"b"}', '--json')
  assert.equal(waiting.code, 4)
  const failing = await countersign(site, 'call', 'notes/fail', '--args', '{}', '--json')
  assert.equal(failing.code, 6)
  const nothing = await countersign(site, 'call', 'notes/nothing', '--args', '{}', '--json')
  assert.deepEqual([nothing.code, (JSON.parse(nothing.out) as { code: string }).code], [3, 'TOOL_UNKNOWN'])
})

test('an edited export, a cut one and a ledger that went back are told by exit codes, and the next start is closed', async (t) => {
  const site = makeSite(t, yaml)
  await approveAll(site)
  t.after(() => countersign(site, 'stop'))
  const file = join(site.folder, 'evidence.jsonl')
  for (const text of ['one.txt', 'two.txt']) await countersign(site, 'call', 'notes/echo', '--arg', `text=${text}`)
  assert.equal((await countersign(site, 'evidence', 'export', file)).code, 0)
  assert.equal((await countersign(site, 'evidence', 'verify')).code, 0)
  await countersign(site, 'stop')
  assert.equal((await countersign(site, 'evidence', 'verify', file)).code, 0)
  const whole = readFileSync(file, 'utf8')
  writeFileSync(file, whole.replace('"at":1', '"at":2'))
  assert.equal((await countersign(site, 'evidence', 'verify', file)).code, 10)
  writeFileSync(file, whole.trimEnd().split('\n').slice(0, -1).join('\n'))
  assert.equal((await countersign(site, 'evidence', 'verify', file)).code, 11)
  writeFileSync(file, '{"format":"something else"}\n')
  assert.equal((await countersign(site, 'evidence', 'verify', file)).code, 12)

  const ledger = join(site.home, 'ledger.db')
  const old = readFileSync(ledger)
  await countersign(site, 'call', 'notes/echo', '--arg', 'text=three.txt')
  await countersign(site, 'stop')
  writeFileSync(ledger, old)
  assert.equal((await countersign(site, 'evidence', 'verify')).code, 10)
  const closed = await countersign(site, 'call', 'notes/echo', '--arg', 'text=four.txt', '--json')
  assert.equal(closed.code, 3)
  assert.equal((JSON.parse(closed.out) as { code: string }).code, 'LEDGER_ROLLED_BACK')
  await countersign(site, 'stop')
})

test('one changed byte of a record in the ledger is told by verify and by the next start', async (t) => {
  const site = makeSite(t, yaml)
  await approveAll(site)
  t.after(() => countersign(site, 'stop'))
  await countersign(site, 'call', 'notes/echo', '--arg', 'text=one.txt')
  await countersign(site, 'stop')
  const db = new DatabaseSync(join(site.home, 'ledger.db'))
  db.exec("DROP TRIGGER event_fixed; UPDATE event SET record = replace(record, 'succeeded', 'succeedee')")
  db.close()
  const verified = await countersign(site, 'evidence', 'verify', '--json')
  assert.equal(verified.code, 10)
  assert.equal((JSON.parse(verified.out) as { verdict: string }).verdict, 'tampered')
  const closed = await countersign(site, 'call', 'notes/echo', '--arg', 'text=two.txt', '--json')
  assert.equal((JSON.parse(closed.out) as { code: string }).code, 'LEDGER_ROLLED_BACK')
})
