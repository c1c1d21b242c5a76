import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fixture, makeSite, openGateway } from '../fixtures/site.ts'
import { until } from '../hostile/attack.ts'

const password = 'correct-horse-battery-staple-9'
// Put together here, so that no file holds anything that looks like one.
const token = ['ghp', 'aB3dE5gH7jK9mN1pQ4rS6tU8vW0xY2zA5cD7'].join('_')

test('what a server writes to standard error is shown, with a bound, escaped and without what it was given to keep', async (t) => {
  const script = [
    `for (let n = 0; n < 5000; n++) console.error('line', n)`,
    `console.error('the password is ' + process.env.PASSWORD)`,
    `console.error('the token is ${token}')`,
    `console.error('colour \\u001b[31mred')`,
    'process.exitCode = 3; process.stdin.destroy()',
  ].join(';')
  const site = makeSite(
    t,
    () => `
servers:
  a: { command: node, args: ['-e', ${JSON.stringify(script)}], env: { PASSWORD: ${password} } }
  b: { command: node, args: [${fixture('honest')}] }
`,
  )
  const gateway = await openGateway(t, site)
  await until('it has said all', async () => {
    const said = await gateway.control.server('a')
    return said?.state === 'down' && /colour/.test(said.errorOutput.join())
  })
  const server = (await gateway.control.server('a'))!
  const text = server.errorOutput.join('\n')
  assert.ok(server.errorOutput.length <= 20)
  assert.match(text, /line 4999/)
  assert.match(text, /the password is \[secret\]/)
  assert.match(text, /the token is \[masked: github-token\]/)
  for (const hidden of [password, token, '\u001b']) assert.ok(!text.includes(hidden), hidden)
  const summary = (await gateway.control.status()).servers.find(({ name }) => name === 'a')!
  assert.match(summary.lastWords!, /colour/)
  const healthy = (await gateway.control.server('b'))!
  assert.deepEqual(healthy.errorOutput, [])
  assert.deepEqual(healthy.connections, { shared: false, open: 0, most: 16 })
  const [tools] = healthy.lists
  assert.equal(tools!.items, 8)
  assert.ok(tools!.readAt! <= Date.now() && tools!.nextAt! > Date.now() - 1_000)
})
