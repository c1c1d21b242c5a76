import assert from 'node:assert/strict'
import { mkdtempDisposableSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { routes } from '../../api/contract.ts'
import { ControlClient } from './client.ts'
import type { Control } from './control.ts'
import { answered, digits, notedControl, oneTool, unknownOperation, waitingApproval } from './control.fixture.ts'
import { listenPrivately } from './listen.ts'
import { serveControl } from './routes.ts'

const never = new AbortController().signal

async function serving(own: Partial<Control> = {}) {
  const folder = mkdtempDisposableSync(join(tmpdir(), 'countersign-control-'))
  const controlSocket = join(folder.path, 'control.sock')
  const control = notedControl(own)
  const faults: unknown[] = []
  const server = await serveControl(control, { controlSocket }, (fault) => faults.push(fault))
  return {
    control,
    faults,
    server,
    socket: controlSocket,
    client: new ControlClient(controlSocket),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      folder.remove()
    },
  }
}

test('the socket belongs to its owner alone, and takes the place of one that was left behind', async () => {
  await using gateway = await serving()
  assert.equal((statSync(gateway.socket).mode & 0o777).toString(8), '600')
  using folder = mkdtempDisposableSync(join(tmpdir(), 'countersign-control-'))
  const stale = join(folder.path, 'control.sock')
  writeFileSync(stale, '')
  const server = createServer()
  await listenPrivately(server, stale)
  assert.ok(statSync(stale).isSocket())
  server.close()
})

test('every answer fits the contract, and every argument arrives as it was sent', async () => {
  await using gateway = await serving()
  const { client, control } = gateway
  routes.status.answer.parse(await client.status())
  routes.tool.answer.parse(await client.tool({ kind: 'tool', server: 'odd', name: 'a b/c?d' }))
  assert.deepEqual(await client.tools({ server: 'odd' }), [oneTool])
  routes.approval.answer.parse(await client.approval('apr_1'))
  assert.deepEqual(await client.approvals({ state: 'waiting', limit: 5 }), [waitingApproval])
  await client.decideApproval('apr_1', { decision: 'denied', channel: 'cli', why: 'no' })
  routes.operation.answer.parse(await client.operation('op_1'))
  assert.deepEqual(await client.operations({ state: 'open' }), [unknownOperation])
  await client.decideOperation('op_1', { decision: 'effect', why: 'seen' })
  await client.reconcileOperation('op_1')
  routes.verifyEvidence.answer.parse(await client.verifyEvidence())
  routes.checkPolicy.answer.parse(await client.checkPolicy())
  await client.evidence({ operation: 'op_1' })
  routes.rotateKey.answer.parse(await client.rotateKey())
  routes.eraseSubject.answer.parse(await client.eraseSubject({ tenant: 't', principal: 'p', why: 'asked' }))
  assert.deepEqual(await client.stop(), { stopping: true })
  assert.deepEqual(control.seen, [
    ['status'],
    ['tool', { kind: 'tool', server: 'odd', name: 'a b/c?d' }],
    ['tools', { server: 'odd' }],
    ['approval', 'apr_1'],
    ['approvals', { state: 'waiting', limit: 5 }],
    ['decideApproval', 'apr_1', { decision: 'denied', channel: 'cli', why: 'no' }],
    ['operation', 'op_1'],
    ['operations', { state: 'open', limit: 50 }],
    ['decideOperation', 'op_1', { decision: 'effect', why: 'seen' }],
    ['reconcileOperation', 'op_1'],
    ['verifyEvidence'],
    ['checkPolicy'],
    ['evidence', { operation: 'op_1', limit: 50 }],
    ['rotateKey'],
    ['eraseSubject', { tenant: 't', principal: 'p', why: 'asked' }],
    ['stop'],
  ])
})

test('a result comes through byte for byte, numbers beyond 2^53 included', async () => {
  const result = '{"content":[],"structuredContent":{"id":12345678901234567890, "ratio":1.0}}'
  await using gateway = await serving({ call: () => Promise.resolve(answered(result)) })
  const { report, text } = await gateway.client.call(
    { target: { server: 's', name: 't' }, arguments: '{}', door: 'cli' },
    never,
  )
  routes.call.answer.parse(report)
  assert.ok(text.endsWith(`,"result":${result}}`))
})

test('the arguments of a call reach the gates as the text that was typed', async () => {
  await using gateway = await serving()
  const typed = '{"a":1,"a":2,"big":12345678901234567890}'
  await gateway.client.call({ target: { exported: 's__t' }, arguments: typed, door: 'cli', callId: 'c' }, never)
  assert.deepEqual(gateway.control.seen, [
    ['call', { target: { exported: 's__t' }, arguments: typed, door: 'cli', callId: 'c' }],
  ])
})

test('each kind of answer becomes a report of the contract', async () => {
  const steps = [] as const
  const answers = [
    { kind: 'refused', code: 'SCOPE_OUTSIDE', facts: { path: '/etc' }, steps, approval: 'apr_1' },
    { kind: 'unknown', operation: 'op_1', why: 'deadline', steps },
    { kind: 'upstream-error', operation: 'op_1', state: 'unknown', error: { code: -32603, message: 'no' }, steps },
  ] as const
  for (const answer of answers) {
    await using gateway = await serving({ call: () => Promise.resolve(answer) })
    const { report } = await gateway.client.call({ target: { exported: 'x' }, arguments: '{}', door: 'host' }, never)
    routes.call.answer.parse(report)
    assert.equal(report.kind, answer.kind)
    if (report.kind === 'refused') assert.match(report.next, /Stay inside/)
  }
})

test('a gate that says no is a value with its status, and nothing there is a fault', async () => {
  await using gateway = await serving()
  const refusal = await gateway.client.approveTool({ kind: 'tool', server: 's', name: 't' }, digits)
  assert.ok('kind' in refusal && refusal.kind === 'refused')
  assert.equal(refusal.code, 'TOOL_CHANGED')
  await assert.rejects(gateway.client.server('nowhere'), { name: 'ControlFault', code: 'NOT_FOUND' })
})

test('what does not fit the contract is told and never reaches the gateway', async () => {
  await using gateway = await serving()
  const odd = { decision: 'perhaps', channel: 'cli', why: '' } as unknown as Parameters<
    ControlClient['decideApproval']
  >[1]
  await assert.rejects(gateway.client.decideApproval('apr_1', odd), { code: 'BAD_REQUEST', message: /decision/ })
  const extra = { decision: 'granted', channel: 'cli', why: '', by: 'somebody else' }
  await assert.rejects(gateway.client.decideApproval('apr_1', extra as never), { code: 'BAD_REQUEST' })
  await assert.rejects(gateway.client.approvals({ limit: 100_000 }), { code: 'BAD_REQUEST' })
  assert.deepEqual(gateway.control.seen, [])
})

test('a body beyond the limit is turned away', async () => {
  await using gateway = await serving()
  const much = { target: { exported: 'x' }, arguments: 'x'.repeat(17 * 1024 * 1024), door: 'cli' } as const
  await assert.rejects(gateway.client.call(much, never), { name: 'ControlFault' })
  assert.deepEqual(gateway.control.seen, [])
})

test('something broken in the gateway is a fault at the caller and is reported in the gateway', async () => {
  await using gateway = await serving({ budgets: () => Promise.reject(new Error('the disk is full')) })
  await assert.rejects(gateway.client.budgets(), { code: 'INTERNAL', message: 'the disk is full' })
  assert.equal(gateway.faults.length, 1)
})

test('a caller who leaves is known to the gateway', async () => {
  const left = Promise.withResolvers<void>()
  const there = Promise.withResolvers<void>()
  await using gateway = await serving({
    call: (_request, signal) => {
      signal.addEventListener('abort', () => left.resolve(), { once: true })
      there.resolve()
      return new Promise(() => {})
    },
  })
  const caller = new AbortController()
  const waiting = gateway.client.call({ target: { exported: 'x' }, arguments: '{}', door: 'cli' }, caller.signal)
  await there.promise
  assert.deepEqual(gateway.server.activity(), { running: 1, begun: 1 })
  caller.abort()
  await assert.rejects(waiting, { name: 'AbortError' })
  await left.promise
})

test('questions are watched as they come, until the watcher leaves', async () => {
  const ended = Promise.withResolvers<string>()
  await using gateway = await serving({
    watchApprovals: async function* (channel, signal) {
      yield waitingApproval
      yield { ...waitingApproval, state: 'granted', by: 'local' }
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
      ended.resolve(channel)
    },
  })
  const leaving = new AbortController()
  const states: string[] = []
  for await (const approval of await gateway.client.watchApprovals('terminal', leaving.signal)) {
    states.push(approval.state)
    if (states.length === 2) leaving.abort()
  }
  assert.deepEqual(states, ['waiting', 'granted'])
  assert.equal(await ended.promise, 'terminal')
})

test('a watch whose gateway ends is a fault and no quiet end', async () => {
  const gateway = await serving({
    watchApprovals: async function* (_channel, signal) {
      yield waitingApproval
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }))
    },
  })
  const events = await gateway.client.watchApprovals('cli', never)
  assert.equal((await events.next()).value?.id, 'apr_1')
  const next = events.next()
  await gateway[Symbol.asyncDispose]()
  await assert.rejects(next, { code: 'GATEWAY_LOST' })
})

test('an export comes whole, and one that breaks off ends with an error', async () => {
  await using gateway = await serving()
  const text = async (client: ControlClient) => {
    let all = ''
    for await (const part of await client.exportEvidence({}, never)) all += String(part)
    return all
  }
  assert.equal(await text(gateway.client), '{"first":true}\n{"records":1}\n')
  await using breaking = await serving({
    exportEvidence: async function* () {
      yield await Promise.resolve('x'.repeat(100_000))
      throw new Error('the ledger is gone')
    },
  })
  await assert.rejects(text(breaking.client))
})

test('nobody behind the socket, and somebody else behind it, are told apart', async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), 'countersign-control-'))
  const client = new ControlClient(join(folder.path, 'control.sock'))
  await assert.rejects(client.status(), { code: 'GATEWAY_UNREACHABLE', hint: /countersign up/ })
  const other = createServer((_request, response) => response.end('{}'))
  await listenPrivately(other, join(folder.path, 'control.sock'))
  await assert.rejects(client.status(), { code: 'GATEWAY_VERSION' })
  other.close()
})

test('a gateway that does not answer is given up on in time', async () => {
  await using gateway = await serving({ status: () => new Promise(() => {}) })
  await assert.rejects(gateway.client.status(AbortSignal.timeout(50)), { code: 'GATEWAY_SILENT' })
})

test('the routes are closed to everything that is not in the contract', async () => {
  for (const [name, route] of Object.entries(routes)) {
    assert.match(route.path, /^\/v1\/[a-z/:]+$/i, name)
    assert.ok(route.answer instanceof z.ZodType, name)
  }
  await using gateway = await serving()
  await assert.rejects(gateway.client.tool({ kind: 'planet' as never, server: 's', name: 't' }), {
    code: 'BAD_REQUEST',
  })
})
