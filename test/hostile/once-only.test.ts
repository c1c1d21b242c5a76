import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { RunningGateway } from '../../src/gateway/build.ts'
import { fixture, makeSite } from '../fixtures/site.ts'
import { call, effectsIn, httpFixture, openApproved, operationOf, scratch, stateOf, until, wordFor } from './attack.ts'

// Cut at each byte, a server leaves many calls in a row unanswered: that it gets no more of them is tested elsewhere.
const allPass = 'limits: { unansweredCalls: 10000 }\nconsent: { rules: [{ name: all pass, decision: allow }] }'
const profile = '{ effect: once, risk: low, repeat: allow, softDeadlineMs: 400, hardDeadlineMs: 400 }'

/** The same call, before and after: never two effects, never "failed", and a silent unknown blocks. */
async function once(gateway: RunningGateway, tool: string, mode: string, at: number, effects: string): Promise<string> {
  const before = effectsIn(effects).length
  const arguments_ = { mode, at }
  // Connected is not yet listed: a server that has just come back is refused until its list is read again.
  const ready = () =>
    until(
      `${tool} can be called (${mode})`,
      async () => (await gateway.control.tools({})).find(({ key }) => key === tool)?.state === 'approved',
    )
  await ready()
  let answer = await call(gateway, tool, arguments_)
  // Not sent is said with proof: it may be tried again.
  for (let n = 0; n < 50 && ['NOT_SENT', 'SERVER_UNAVAILABLE'].includes(wordFor(answer)); n++) {
    assert.equal(effectsIn(effects).length, before, `${mode}: said to be not sent`)
    await ready()
    answer = await call(gateway, tool, arguments_)
  }
  const said = wordFor(answer)
  const about = `${tool} ${mode} ${at}: ${said}`
  // Unknown may be said before the effect is there; that it comes is what makes it unknown and not failed.
  await until(`${about}: the effect`, () => effectsIn(effects).length === before + 1)
  const state = await stateOf(gateway, operationOf(answer))
  assert.notEqual(state, 'failed', about)
  if (said === 'unknown') {
    assert.equal(state, 'unknown', about)
    await ready()
    const again = await call(gateway, tool, arguments_)
    assert.equal(wordFor(again), 'OUTCOME_UNKNOWN', about)
    assert.equal(effectsIn(effects).length, before + 1, `${about}: a second effect`)
  } else if (said === 'answered:succeeded') assert.equal(state, 'succeeded', about)
  return said
}

test('over stdio, however the line dies after the effect: one effect, no "failed", and the same call is blocked', async (t) => {
  const site = makeSite(
    t,
    ({ effects }) => `
servers:
  a: { command: node, args: [${fixture('dying')}, --effects, ${effects}], tools: { pay: ${profile} } }
  b: { command: node, args: [${fixture('dying')}, --effects, ${effects}], tools: { pay: ${profile} } }
${allPass}
`,
  )
  const gateway = await openApproved(t, site)
  const said: Record<string, string> = {}
  for (const mode of 'silent garbage twice wrong-id no-result deep noise stderr exit torn half'.split(' '))
    said[mode] = await once(gateway, 'a/pay', mode, 0, site.effects)
  said['last-words'] = await once(gateway, 'b/pay', 'last-words', 0, site.effects)
  for (const mode of ['twice', 'noise', 'stderr', 'last-words']) assert.equal(said[mode], 'answered:succeeded', mode)
  for (const mode of ['silent', 'garbage', 'wrong-id', 'no-result', 'deep', 'exit', 'torn', 'half'])
    assert.equal(said[mode], 'unknown', mode)
})

for (const [era, answers] of [
  ['legacy', 'json'],
  ['modern', 'sse'],
] as const)
  test(`over HTTP, ${era}, ${answers}: however the answer dies after the effect, nothing is sent twice`, async (t) => {
    const effects = join(scratch(t), 'effects.log')
    const server = await httpFixture(t, 'dying', '--effects', effects, '--era', era, '--answers', answers)
    const site = makeSite(
      t,
      () => `
servers:
  a: { url: '${server.reach.url}', tools: { pay: ${profile} } }
${allPass}
`,
    )
    const gateway = await openApproved(t, site)
    const modes =
      'reset half cut-stream empty-stream not-http garbage no-result wrong-id twice deep status-500 status-404 refused html redirect silent'
    const said: Record<string, string> = {}
    for (const mode of modes.split(' ')) said[mode] = await once(gateway, 'a/pay', mode, 20, effects)
    assert.equal(said['twice'], 'answered:succeeded')
    // An error that was answered is relayed; whether it had an effect stays open.
    assert.equal(said['refused'], 'error:unknown')
    for (const mode of modes.split(' '))
      if (!['twice', 'refused'].includes(mode)) assert.equal(said[mode], 'unknown', mode)
  })

test('an answer that is cut at any byte is unknown, and only the whole one is succeeded', async (t) => {
  const effects = join(scratch(t), 'effects.log')
  const server = await httpFixture(t, 'dying', '--effects', effects)
  const site = makeSite(
    t,
    () => `
servers:
  a: { url: '${server.reach.url}', tools: { pay: ${profile} } }
${allPass}
`,
  )
  const gateway = await openApproved(t, site)
  const whole = '{"jsonrpc":"2.0","id":10,"result":{"content":[{"type":"text","text":"paid"}]}}'.length
  for (let at = 0; at < whole - 2; at += 3)
    assert.equal(await once(gateway, 'a/pay', 'cut-body', at, effects), 'unknown', `cut at ${at}`)
  for (let at = 0; at < whole; at += 7)
    assert.equal(await once(gateway, 'a/pay', 'cut-stream', at, effects), 'unknown', `cut at ${at}`)
})
