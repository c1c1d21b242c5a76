import assert from 'node:assert/strict'
import test from 'node:test'
import type { JsonObject } from '../../words/json.ts'
import { EXTENSION_TASKS } from '../wire/envelope.ts'
import { ask, envelope, errorOf, modern, served, until } from './asking.test.ts'
import { said } from './stand-in.test.ts'

const holding = envelope({ extensions: { [EXTENSION_TASKS]: {} }, elicitation: {} })

/** One request of a client that knows tasks. */
function asked(method: string, params: JsonObject, more: { meta?: JsonObject; token?: string } = {}) {
  const { taskId } = params
  return modern(method, params, {
    meta: more.meta ?? holding,
    headers: {
      ...(typeof taskId === 'string' && { 'mcp-name': taskId }),
      ...(more.token !== undefined && { authorization: `Bearer ${more.token}` }),
    },
  })
}

async function resultOf(url: string, sent: Parameters<typeof ask>[1]): Promise<JsonObject> {
  const got = await ask(url, sent)
  assert.ok(got.json['result'] !== undefined, got.text)
  return got.json['result'] as JsonObject
}

async function ended(url: string, taskId: string): Promise<JsonObject> {
  for (;;) {
    const task = await resultOf(url, asked('tasks/get', { taskId }))
    if (task['status'] !== 'working') return task
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

const call = { name: 'slow', arguments: {} }

test('a call that takes long is handed over as a task, and its answer is got by its owner only', async (t) => {
  const { url, ports } = await served(t, { taskAfterMs: 10 })
  const gate = Promise.withResolvers<void>()
  ports.tools.set('slow', async () => gate.promise.then(() => said('done')))
  const task = await resultOf(url, asked('tools/call', call))
  assert.deepEqual([task['resultType'], task['status']], ['task', 'working'])
  const { taskId } = task as { taskId: string }
  assert.match(taskId, /^[0-9a-f]{32}$/)
  assert.equal((await resultOf(url, asked('tasks/get', { taskId })))['status'], 'working')
  for (const token of ['bob', 'alice-other']) {
    for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
      const got = await ask(url, asked(method, { taskId }, { token }))
      assert.equal(errorOf(got).code, -32602, `${token} ${method}`)
    }
  }
  gate.resolve()
  const done = await ended(url, taskId)
  assert.equal(done['status'], 'completed')
  assert.match(JSON.stringify(done['result']), /done/)
  assert.deepEqual(ports.faults, [])
})

test('who does not know tasks waits, and may not ask for one; what is quick is answered at once', async (t) => {
  const { url, ports } = await served(t, { taskAfterMs: 100 })
  ports.tools.set('slow', async () => new Promise((resolve) => setTimeout(() => resolve(said('done')), 200)))
  const waited = await resultOf(url, asked('tools/call', call, { meta: envelope() }))
  assert.equal(waited['resultType'], 'complete')
  const quick = await resultOf(url, asked('tools/call', { name: 'echo__say', arguments: {} }))
  assert.equal(quick['resultType'], 'complete')
  for (const method of ['tasks/get', 'tasks/cancel', 'tasks/update']) {
    const got = await ask(url, asked(method, { taskId: 'x' }, { meta: envelope() }))
    assert.deepEqual([got.status, errorOf(got).code], [400, -32021])
    assert.deepEqual(errorOf(got).data, { requiredCapabilities: { extensions: { [EXTENSION_TASKS]: {} } } })
    const unnamed = await ask(url, modern(method, { taskId: 'x' }, { meta: holding }))
    assert.deepEqual([unnamed.status, errorOf(unnamed).code], [400, -32020], 'Mcp-Name is the id of the task')
  }
})

test('a cancelled task stops waiting; what ran all the same is said', async (t) => {
  const { url, ports } = await served(t, { taskAfterMs: 10 })
  ports.tools.set('slow', async (_request, caller, signal) => {
    assert.equal(caller.attached, true, 'who holds a task still waits')
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    return { kind: 'unknown', operation: 'op_1', why: 'caller-left', steps: [] }
  })
  ports.tools.set('ran', async (_request, _caller, signal) => {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
    return said('it has run')
  })
  for (const [name, status] of [
    ['slow', 'cancelled'],
    ['ran', 'completed'],
  ] as const) {
    const { taskId } = (await resultOf(url, asked('tools/call', { name, arguments: {} }))) as { taskId: string }
    const ack = await resultOf(url, asked('tasks/cancel', { taskId }))
    assert.deepEqual([ack['resultType'], ack['status']], ['complete', undefined])
    assert.equal((await ended(url, taskId))['status'], status)
    assert.equal((await resultOf(url, asked('tasks/cancel', { taskId })))['resultType'], 'complete')
  }
})

test('a question that comes late waits in the task, and its answer leads to the call', async (t) => {
  const { url, ports } = await served(t, { taskAfterMs: 10 })
  ports.tools.set('slow', async () => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    return ports.granted.size > 0 ? said('deleted') : { kind: 'asked', approval: ports.approval(), steps: [] }
  })
  const { taskId } = (await resultOf(url, asked('tools/call', call))) as { taskId: string }
  const waiting = await ended(url, taskId)
  assert.equal(waiting['status'], 'input_required')
  assert.deepEqual(Object.keys(waiting['inputRequests'] as object), ['approval'])
  assert.equal(waiting['requestState'], undefined)
  const answer = { action: 'accept', content: { decision: 'approve' } }
  const inputResponses = { stranger: {}, approval: answer }
  await resultOf(url, asked('tasks/update', { taskId, inputResponses }))
  const done = await ended(url, taskId)
  assert.equal(done['status'], 'completed')
  assert.match(JSON.stringify(done), /deleted/)
  assert.deepEqual(ports.answers.length, 1)
})

test('tasks are bounded: beyond that a call is waited for', async (t) => {
  const { url, ports } = await served(t, { taskAfterMs: 5, tasksPerPrincipal: 1 })
  const gate = Promise.withResolvers<void>()
  ports.tools.set('slow', async () => gate.promise.then(() => said('done')))
  assert.equal((await resultOf(url, asked('tools/call', call)))['resultType'], 'task')
  const second = resultOf(url, asked('tools/call', call))
  await until(() => ports.calls.length === 2, 'the second call is there')
  await new Promise((resolve) => setTimeout(resolve, 50))
  gate.resolve()
  assert.equal((await second)['resultType'], 'complete')
})
