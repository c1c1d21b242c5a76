import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { SpillFolder } from './spill.ts'

function home(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-spill-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
const ana = { tenant: 'acme', principal: 'ana' }

test('pages put together are the whole text, and no character is cut in two', (t) => {
  const spill = new SpillFolder(home(t))
  const whole = 'aé😀\n'.repeat(500)
  const uri = spill.keep(ana, 'op_1', Buffer.from(whole, 'utf8'))
  assert.ok(typeof uri === 'string')
  let text = ''
  for (let next: number | undefined = 0; next !== undefined;) {
    const page = spill.read(ana, uri, next, 7)
    assert.ok(page)
    assert.ok(page.text.isWellFormed())
    assert.equal(page.total, whole.length)
    text += page.text
    next = page.next
  }
  assert.equal(text, whole)
})

test('another principal, another tenant and a made-up address get nothing', (t) => {
  const spill = new SpillFolder(home(t))
  const uri = spill.keep(ana, 'op_1', Buffer.from('{}'))
  assert.ok(typeof uri === 'string')
  assert.equal(spill.read({ tenant: 'acme', principal: 'eve' }, uri, 0, 10), undefined)
  assert.equal(spill.read({ tenant: 'other', principal: 'ana' }, uri, 0, 10), undefined)
  assert.equal(spill.read(ana, 'countersign://results/../../etc/passwd', 0, 10), undefined)
})

test('the oldest makes room, what is larger than all room is refused, and files are for the owner only', (t) => {
  const folder = home(t)
  const spill = new SpillFolder(folder, { limitBytes: 100 })
  const first = spill.keep(ana, 'op_1', Buffer.alloc(60, 'a'))
  const second = spill.keep(ana, 'op_2', Buffer.alloc(60, 'b'))
  assert.ok(typeof first === 'string' && typeof second === 'string')
  assert.equal(spill.read(ana, first, 0, 10), undefined)
  assert.equal(spill.read(ana, second, 0, 3)?.text, 'bbb')
  const refused = spill.keep(ana, 'op_3', Buffer.alloc(101))
  assert.ok(typeof refused === 'object' && refused.code === 'RESULT_TOO_LARGE')
  const [file] = readdirSync(join(folder, 'spill'))
  assert.equal(statSync(join(folder, 'spill', file!)).mode & 0o777, 0o600)
})
