import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { type ClientRow, measureClients } from './clients.ts'
import { measureEnding } from './ending.ts'
import { measureFidelity, type Row } from './fidelity.ts'
import { renderPage, withConformance } from './page.ts'

const page = join(import.meta.dirname, '..', '..', 'docs', 'compatibility.md')
const measured: { legacy: readonly Row[]; modern: readonly Row[]; ending: Row[]; clients: readonly ClientRow[] } = {
  legacy: [],
  modern: [],
  ending: [],
  clients: [],
}

function asWanted(t: TestContext, rows: readonly Row[]): void {
  for (const { probe, found } of rows) t.diagnostic(`${probe}: ${found}`)
  const other = rows.filter(({ wanted, found }) => wanted !== found)
  assert.deepEqual(other, [])
}

test('nothing is lost on the way between a server and a client of 2025-11-25', async (t) => {
  measured.legacy = await measureFidelity(t, 'legacy')
  asWanted(t, measured.legacy)
})

test('nothing is lost on the way between a server of 2025-11-25 and a client of 2026-07-28', async (t) => {
  measured.modern = await measureFidelity(t, '2026-07-28')
  asWanted(t, measured.modern)
})

for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
  test(`a gateway that is ended by ${signal} leaves no server and no child of a server behind`, async (t) => {
    const row = await measureEnding(t, signal)
    measured.ending.push(row)
    asWanted(t, [row])
  })
}

test('the clients that people use list, call, and show what was refused', async (t) => {
  measured.clients = await measureClients(t)
  const wrong = measured.clients.filter(
    ({ lists, calls, refused }) => lists !== 'yes' || calls !== 'yes' || refused !== 'shown',
  )
  assert.deepEqual(wrong, [])
})

test('docs/compatibility.md says what was measured', () => {
  const text = renderPage(measured)
  if (process.env['COUNTERSIGN_WRITE'] !== undefined) return writeFileSync(page, text)
  // The figures of the conformance suite are held by its own tests.
  const said = withConformance(readFileSync(page, 'utf8'))
  assert.equal(said, text, 'other than measured: `npm run compatibility` writes it')
})
