import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digest } from '../../words/digest.ts'
import type { Verdict } from '../../words/verdict.ts'
import type { Identified } from '../principal/principal.ts'
import { defaultLimits, propose } from '../proposal/index.ts'
import type { Proposal, Target } from '../proposal/proposal.ts'
import { tool } from './index.ts'
import { undeclared } from './profile.ts'
import { compileCheck } from './schema.ts'
import type { ApprovedTool, Catalogue, Difference, Found, Selected } from './selected.ts'

const compiled = compileCheck(
  { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  'arguments',
)
assert.ok('check' in compiled)

const approved: ApprovedTool = {
  kind: 'tool',
  key: 'notes/read_note',
  server: 'notes',
  name: 'read_note',
  exportedName: 'notes__read_note',
  pin: digest('pin'),
  serverIdentity: digest('identity'),
  serverVersion: '1.2.3',
  definition: { name: 'read_note' },
  profile: undeclared,
  checkArguments: compiled.check,
}
const differences: Difference[] = [{ at: '/description', approved: 'Reads.', live: undefined }]

function asks(
  arguments_: object = { path: 'a.md' },
  target: Target = { kind: 'tool', exported: 'notes__read_note' },
): Identified {
  const made = propose(
    {
      target,
      arguments: { text: JSON.stringify(arguments_) },
      origin: { door: 'gateway' },
    },
    defaultLimits,
    0,
  ) as { next: Proposal }
  return { proposal: made.next, principal: { id: 'ada', tenant: 'home', kind: 'user', groups: [], proof: 'token' } }
}

/** A catalogue in one state, which a refresh may turn into another. */
function holding(found: Found, after?: Found | Error): Catalogue {
  let now = found
  return {
    version: 1,
    find: () => now,
    refresh: () => {
      if (after === undefined) return undefined
      if (after instanceof Error) return Promise.reject(after)
      now = after
      return Promise.resolve()
    },
  }
}

async function judge(
  catalogue: Catalogue,
  identified = asks(),
  sees = true,
  signal = new AbortController().signal,
): Promise<Verdict<Selected>> {
  return tool.judge(identified, { catalogue, visibility: { sees: () => sees } }, signal)
}

test('an approved tool with arguments that fit is selected, and the facts name server, tool, pin, version and what policies may ask', async () => {
  const verdict = await judge(holding({ state: 'approved', tool: approved }))
  assert.equal(verdict.kind, 'pass')
  assert.equal((verdict as { next: Selected }).next.tool, approved)
  assert.deepEqual(verdict.facts, {
    server: 'notes',
    tool: 'notes/read_note',
    pin: approved.pin,
    version: '1.2.3',
    kind: 'tool',
    effect: 'once',
    risk: 'high',
    declared: false,
  })
})

test('where no refresh is due the answer comes without a promise', () => {
  const needs = { catalogue: holding({ state: 'approved', tool: approved }), visibility: { sees: () => true } }
  assert.equal(tool.judge(asks(), needs, new AbortController().signal) instanceof Promise, false)
})

test('arguments that do not fit the approved schema are refused with the lines that say why', async () => {
  assert.deepEqual(await judge(holding({ state: 'approved', tool: approved }), asks({ path: 7 })), {
    kind: 'refuse',
    code: 'ARGUMENTS_INVALID',
    facts: { tool: 'notes/read_note', wrong: ['/path: must be string'] },
  })
})

test('each state of the catalogue has its own refusal', async () => {
  const cases: [Found, string, object][] = [
    [{ state: 'unknown' }, 'TOOL_UNKNOWN', { asked: 'notes__read_note' }],
    [{ state: 'pending', about: approved, why: 'new' }, 'TOOL_NOT_APPROVED', { tool: 'notes/read_note', why: 'new' }],
    [
      { state: 'changed', about: approved, differences },
      'TOOL_CHANGED',
      { tool: 'notes/read_note', differences: [{ at: '/description', approved: 'Reads.', live: null }] },
    ],
    [
      { state: 'server-changed', about: approved, differences },
      'SERVER_CHANGED',
      {
        server: 'notes',
        tool: 'notes/read_note',
        differences: [{ at: '/description', approved: 'Reads.', live: null }],
      },
    ],
    [
      { state: 'unavailable', about: approved, why: 'down' },
      'SERVER_UNAVAILABLE',
      { server: 'notes', tool: 'notes/read_note', why: 'down' },
    ],
    [
      { state: 'not-negotiated', about: approved, capability: 'tools' },
      'CAPABILITY_NOT_NEGOTIATED',
      { server: 'notes', tool: 'notes/read_note', capability: 'tools' },
    ],
  ]
  for (const [found, code, facts] of cases)
    assert.deepEqual(await judge(holding(found)), { kind: 'refuse', code, facts })
})

test('what a principal does not see is refused exactly like what does not exist, in every state', async () => {
  const unknown = await judge(holding({ state: 'unknown' }))
  const states: Found[] = [
    { state: 'approved', tool: approved },
    { state: 'pending', about: approved, why: 'new' },
    { state: 'changed', about: approved, differences },
    { state: 'server-changed', about: approved, differences },
    { state: 'unavailable', about: approved, why: 'down' },
    { state: 'not-negotiated', about: approved, capability: 'tools' },
  ]
  for (const found of states) assert.deepEqual(await judge(holding(found), asks(), false), unknown, found.state)
  assert.deepEqual(await judge(holding({ state: 'approved', tool: approved }), asks({ path: 7 }), false), unknown)
})

test('after a refresh the tool is looked up again, and what changed meanwhile is caught', async () => {
  const before: Found = { state: 'approved', tool: approved }
  assert.equal((await judge(holding(before, before))).kind, 'pass')
  const verdict = await judge(holding(before, { state: 'changed', about: approved, differences }))
  assert.equal(verdict.kind === 'refuse' && verdict.code, 'TOOL_CHANGED')
  const gone = await judge(holding(before, { state: 'unknown' }))
  assert.equal(gone.kind === 'refuse' && gone.code, 'TOOL_UNKNOWN')
})

test('a server that cannot be asked again is refused, and a caller that left is told so', async () => {
  const catalogue = holding({ state: 'approved', tool: approved }, new Error('no answer'))
  const verdict = await judge(catalogue)
  assert.deepEqual(verdict, {
    kind: 'refuse',
    code: 'SERVER_UNAVAILABLE',
    facts: { server: 'notes', tool: 'notes/read_note', why: 'no answer' },
  })
  const left = await judge(catalogue, asks(), true, AbortSignal.abort())
  assert.equal(left.kind === 'refuse' && left.code, 'CALLER_LEFT')
})

test('a name that nobody knows is shortened on the record', async () => {
  const verdict = await judge(holding({ state: 'unknown' }), asks({}, { kind: 'tool', exported: 'x'.repeat(5000) }))
  assert.ok(JSON.stringify(verdict.facts).length < 200)
})
