import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testToolbox, textResult } from '../../test/fixtures/providers/toolbox.ts'
import { type Task, runTask } from './loop.ts'
import { type ModelEvent, ModelFault, type ModelPort, type Turn } from './port.ts'
import { profileOf } from './projection/profiles.ts'
import type { RunEvent } from './report.ts'
import { refusedAnswer } from './toolbox.ts'

type Played = readonly ModelEvent[] | Error

/** A model that plays these turns and keeps what it was shown. */
function playing(...turns: readonly Played[]): ModelPort & { readonly seen: Turn[] } {
  const seen: Turn[] = []
  return {
    label: 'test:model',
    scripted: false,
    profile: profileOf('anthropic'),
    seen,
    async *propose(turn) {
      seen.push({ system: turn.system, messages: [...turn.messages] })
      const events = turns[Math.min(seen.length, turns.length) - 1]!
      if (events instanceof Error) throw events
      yield* events
    },
  }
}

function says(text: string): ModelEvent[] {
  return [
    { kind: 'part', part: { kind: 'text', text } },
    { kind: 'finish', unified: 'stop' },
  ]
}

function calls(...proposals: readonly Partial<Extract<ModelEvent, { kind: 'proposal' }>>[]): ModelEvent[] {
  return [
    ...proposals.map((one, n): ModelEvent => ({
      kind: 'proposal',
      id: `c${n}`,
      projectedName: 'weather__get_weather',
      rawArguments: '{"location":"Seoul"}',
      caller: 'model',
      ...one,
    })),
    { kind: 'finish', unified: 'tool-calls' },
  ]
}

async function run(model: ModelPort, about: Partial<Task> = {}) {
  const toolbox = testToolbox()
  const events: RunEvent[] = []
  const report = await runTask({
    task: 'Weather in Seoul?',
    model,
    toolbox,
    signal: AbortSignal.timeout(10_000),
    retry: { firstWaitMs: 1 },
    observer: (event) => events.push(event),
    ...about,
  })
  return { report, toolbox, events }
}

function lastResults(model: { readonly seen: Turn[] }) {
  const message = model.seen.at(-1)!.messages.at(-1)!
  assert.equal(message.from, 'tools')
  return message.from === 'tools' ? message.results : []
}

function textOf(model: { readonly seen: Turn[] }, n = 0): string {
  const block = lastResults(model)[n]!.presented.blocks[0]!
  return block.kind === 'text' ? block.text : ''
}

test('calls are made in their order, one at a time, and the results go back in one message', async () => {
  let running = 0
  const toolbox = testToolbox()
  const one = {
    ...toolbox,
    call: async (...args: Parameters<typeof toolbox.call>) => {
      assert.equal(++running, 1)
      await new Promise(setImmediate)
      running--
      return toolbox.call(...args)
    },
  }
  const model = playing(
    calls({ rawArguments: '{"location":"a"}' }, { rawArguments: '{"location":"b"}' }),
    says('Done.'),
  )
  const { report } = await run(model, { toolbox: one })
  assert.deepEqual(
    toolbox.calls.map((call) => call.argumentsText),
    ['{"location":"a"}', '{"location":"b"}'],
  )
  assert.equal(lastResults(model).length, 2)
  assert.deepEqual(
    report.calls.map(({ verdict, operation }) => [verdict, operation]),
    [
      ['succeeded', 'op_test'],
      ['succeeded', 'op_test'],
    ],
  )
  assert.equal(report.stop, 'done')
})

test('T10: malformed argument text is an error to the model, and nothing is called', async () => {
  for (const rawArguments of ['{', '[1]', 'null', '"x"', '{}{}']) {
    const model = playing(calls({ rawArguments }), says('Sorry.'))
    const { toolbox, report } = await run(model)
    assert.equal(toolbox.calls.length, 0)
    assert.equal(report.calls[0]!.verdict, 'not-run')
    assert.match(textOf(model), /^NOT RUN: The arguments/)
    const history = model.seen[1]!.messages[1]!
    assert.deepEqual(history.from === 'model' && history.parts[0], {
      kind: 'call',
      callId: 'c0',
      projectedName: 'weather__get_weather',
      arguments: {},
    })
  }
})

test('T11: ids that come twice or not at all are made unique, in the calls and in what the model is shown', async () => {
  const model = playing(calls({ id: 'same' }, { id: 'same' }, { id: '' }), calls({ id: 'same' }), says('Done.'))
  const { toolbox } = await run(model)
  const ids = toolbox.calls.map((call) => call.callId)
  assert.equal(toolbox.calls.length, 4)
  assert.equal(new Set(ids).size, 4)
  const messages = model.seen[2]!.messages
  const shown = messages.flatMap((message) => (message.from === 'model' ? message.parts : []))
  const answered = messages.flatMap((message) => (message.from === 'tools' ? message.results : []))
  assert.deepEqual(
    shown.map((part) => part.kind === 'call' && part.callId),
    ids,
  )
  assert.deepEqual(
    answered.map((result) => result.callId),
    ids,
  )
})

test('T21: a turn that was cut short is not acted upon, however complete its call looks', async () => {
  for (const unified of ['length', 'content-filter', 'error', 'other'] as const) {
    const model = playing([...calls({}).slice(0, -1), { kind: 'finish', unified, raw: 'why' }])
    const { toolbox, report } = await run(model)
    assert.equal(toolbox.calls.length, 0, unified)
    assert.equal(report.stop, 'cut-short')
    assert.equal(report.calls[0]!.verdict, 'not-run')
  }
})

test('T21: a turn without an end is asked for again, and what it held is not acted upon', async () => {
  const model = playing(calls({ rawArguments: '{"location":"lost"}' }).slice(0, -1), calls({}), says('Done.'))
  const { toolbox, report, events } = await run(model)
  assert.deepEqual(
    toolbox.calls.map((call) => call.argumentsText),
    ['{"location":"Seoul"}'],
  )
  assert.equal(report.turns, 2)
  assert.equal(events.filter((event) => event.kind === 'retry').length, 1)
})

test('T23: a name that is not offered is an error to the model, and goes back as a name that providers take', async () => {
  for (const projectedName of ['valueOf', '__proto__', 'weather__get_weathr', '', 'a b']) {
    const model = playing(calls({ projectedName }), says('Sorry.'))
    const { toolbox, report } = await run(model)
    assert.equal(toolbox.calls.length, 0)
    assert.equal(report.calls[0]!.exported, undefined)
    assert.match(textOf(model), /no tool of that name/)
    const history = model.seen[1]!.messages[1]!
    const expected = projectedName === 'weather__get_weathr' ? projectedName : 'unknown_tool'
    assert.equal(
      history.from === 'model' && history.parts[0]?.kind === 'call' && history.parts[0].projectedName,
      expected,
    )
  }
})

test('T24: a call that a program at the provider issued is refused, and goes back without its issuer', async () => {
  const replay = { anthropic: { caller: { type: 'code_execution_20250825', toolId: 'srv_1' } } }
  const model = playing(calls({ caller: 'program', replay }), says('Sorry.'))
  const { toolbox, report } = await run(model)
  assert.equal(toolbox.calls.length, 0)
  assert.match(report.calls[0]!.why!, /program at the provider/)
  assert.doesNotMatch(JSON.stringify(model.seen[1]), /code_execution/)
})

test('T24: a call that the provider claims to run itself is not run, and ends the task when it stands alone', async () => {
  const alone = await run(playing(calls({ caller: 'provider' })))
  assert.equal(alone.toolbox.calls.length, 0)
  assert.equal(alone.report.stop, 'cut-short')
  const beside = playing(calls({ caller: 'provider' }, {}), says('Done.'))
  assert.equal((await run(beside)).toolbox.calls.length, 1)
  assert.equal(lastResults(beside).length, 1)
})

test('refusals and unknown outcomes are told to the model and are in the report', async () => {
  const model = playing(calls({}, {}), says('Sorry.'))
  const answers = [
    refusedAnswer('APPROVAL_WAITING', {}, { approval: 'apr_1' }),
    { kind: 'unknown', operation: 'op_9', why: 'no answer' } as const,
  ]
  const { report } = await run(model, { toolbox: testToolbox(undefined, () => answers.shift()!) })
  assert.match(textOf(model, 0), /^REFUSED \(APPROVAL_WAITING\)/)
  assert.match(textOf(model, 1), /^OUTCOME UNKNOWN \(operation op_9\)/)
  const [refused, unknown] = report.calls
  assert.deepEqual([refused!.verdict, refused!.code, refused!.approval], ['refused', 'APPROVAL_WAITING', 'apr_1'])
  assert.deepEqual([unknown!.verdict, unknown!.operation], ['unknown', 'op_9'])
})

test('a fault behind the toolbox is an unknown outcome, never a failure, and ends the task', async () => {
  const toolbox = testToolbox(undefined, () => {
    throw new Error('the socket is gone')
  })
  const { report } = await run(playing(calls({}, {})), { toolbox })
  assert.equal(report.stop, 'fault')
  assert.deepEqual(
    report.calls.map(({ verdict }) => verdict),
    ['unknown', 'not-run'],
  )
})

test('limits of turns, calls and tokens stop before anything more is done', async () => {
  const endless = () => playing(calls({}))
  const turns = await run(endless(), { limits: { turns: 3 } })
  assert.deepEqual([turns.report.stop, turns.report.turns, turns.toolbox.calls.length], ['turns', 3, 2])
  const perTask = await run(endless(), { limits: { calls: 2 } })
  assert.deepEqual([perTask.report.stop, perTask.toolbox.calls.length], ['calls', 2])
  const inTurn = await run(playing(calls({}, {}, {})), { limits: { calls: 2 } })
  assert.equal(inTurn.toolbox.calls.length, 2)
  const costly = playing([{ kind: 'usage', inputTokens: 900, outputTokens: 200 }, ...calls({})])
  const tokens = await run(costly, { limits: { tokens: 1000 } })
  assert.deepEqual([tokens.report.stop, tokens.toolbox.calls.length], ['tokens', 0])
  assert.equal(tokens.report.calls[0]!.verdict, 'not-run')
})

test('tokens are estimated where a provider does not say, and the report says that they are', async () => {
  const { report } = await run(playing(says('x'.repeat(400))))
  assert.ok(report.usage.estimated && report.usage.inputTokens > 50)
  assert.equal(report.usage.method, 'o200k')
  assert.equal(report.usage.outputTokens, 50)
})

test('a task that is cancelled, and one whose time is up, end with what they have', async () => {
  const waiting: ModelPort = {
    ...playing(),
    async *propose(_turn, _tools, signal) {
      yield { kind: 'text', text: 'thinking' }
      signal.throwIfAborted()
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    },
  }
  const control = new AbortController()
  const observer = (event: RunEvent) => {
    if (event.kind === 'text') control.abort()
  }
  assert.equal((await run(waiting, { signal: control.signal, observer })).report.stop, 'cancelled')
  assert.equal((await run(waiting, { limits: { wallMs: 20 } })).report.stop, 'time')
  const slow = await run(waiting, { limits: { modelMs: 20 } })
  assert.deepEqual([slow.report.stop, slow.report.why], ['model-fault', 'the model did not answer within 20 ms'])
})

test('cancelling while a call is under way leaves it unknown and starts no other', async () => {
  const control = new AbortController()
  const toolbox = {
    ...testToolbox(),
    call: async () => {
      control.abort()
      throw control.signal.reason as Error
    },
  }
  const { report } = await run(playing(calls({}, {})), { toolbox, signal: control.signal })
  assert.equal(report.stop, 'cancelled')
  assert.deepEqual(
    report.calls.map(({ verdict }) => verdict),
    ['unknown', 'not-run'],
  )
})

test('a busy provider is asked again, within bounds; one that will not answer ends the task', async () => {
  const busy = new ModelFault('HTTP 529: overloaded', { retryable: true, status: 529 })
  const model = playing(busy, busy, says('Done.'))
  assert.equal((await run(model)).report.text, 'Done.')
  assert.equal(model.seen.length, 3)
  const never = playing(busy)
  assert.equal((await run(never)).report.stop, 'model-fault')
  assert.equal(never.seen.length, 4)
  const wrong = playing(new ModelFault('HTTP 401: no such key', { retryable: false, status: 401 }))
  assert.equal((await run(wrong)).report.why, 'HTTP 401: no such key')
  assert.equal(wrong.seen.length, 1)
  const later = playing(new ModelFault('HTTP 429', { retryable: true, retryAfterMs: 3_600_000 }))
  assert.equal((await run(later)).report.stop, 'model-fault')
  assert.equal(later.seen.length, 1)
})

test('an error that the tool itself reports is in the report as such', async () => {
  const { report } = await run(playing(calls({}), says('Hm.')), {
    toolbox: testToolbox(undefined, () => textResult('no', true)),
  })
  assert.equal(report.calls[0]!.verdict, 'tool-error')
})
