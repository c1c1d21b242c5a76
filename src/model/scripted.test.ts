import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testToolbox, textResult } from '../../test/fixtures/providers/toolbox.ts'
import { runTask } from './loop.ts'
import { parseScript, readScript } from './script-file.ts'
import { scriptedModel } from './scripted.ts'
import { refusedAnswer } from './toolbox.ts'

const folder = mkdtempSync(join(tmpdir(), 'countersign-script-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function errorOf(text: string): string {
  const script = parseScript(text, 'turns.yaml')
  assert.ok('error' in script, 'the script was taken')
  return script.error
}

function modelOf(text: string) {
  const script = parseScript(text, 'turns.yaml')
  if ('error' in script) throw new Error(script.error)
  return scriptedModel(script, 'scripted:turns.yaml')
}

test('a script plays its turns through the loop, and the report says that it was a script', async () => {
  const model = modelOf(`
turns:
  - say: I look it up.
    call: { tool: weather__get_weather, arguments: { location: Seoul } }
  - say: Done.
`)
  const toolbox = testToolbox()
  const report = await runTask({ task: 'Weather?', model, toolbox, signal: AbortSignal.timeout(5000) })
  assert.equal(report.scripted, true)
  assert.equal(report.stop, 'done')
  assert.equal(report.text, 'Done.')
  assert.deepEqual(
    toolbox.calls.map((call) => [call.exported, call.argumentsText]),
    [['weather__get_weather', '{"location":"Seoul"}']],
  )
})

test('a turn whose `when` does not hold of the last results is passed over', async () => {
  const model = modelOf(`
- call: { tool: weather__get_weather, arguments: { location: Seoul } }
- when: { contains: SCOPE_OUTSIDE }
  say: It was refused for its scope.
- when: { error: false }
  say: It worked.
`)
  const run = async (refused: boolean) => {
    const toolbox = testToolbox(undefined, () => (refused ? refusedAnswer('SCOPE_OUTSIDE', {}) : textResult('fine')))
    return (await runTask({ task: '?', model, toolbox, signal: AbortSignal.timeout(5000) })).text
  }
  assert.equal(await run(true), 'It was refused for its scope.')
  assert.equal(await run(false), 'It worked.')
})

test('the end of the list ends the task', async () => {
  const model = modelOf('[{ call: { tool: notes__search, argumentsText: "" } }]')
  const toolbox = testToolbox()
  const report = await runTask({ task: '?', model, toolbox, signal: AbortSignal.timeout(5000) })
  assert.equal(report.stop, 'done')
  assert.equal(toolbox.calls[0]!.argumentsText, '{}')
})

test('a bad script is refused with its line and column', () => {
  assert.match(errorOf('turns:\n  - say: [\n'), /^turns\.yaml:\d+:\d+: /)
  assert.match(errorOf('turns:\n  - say: a\n  - sya: b\n'), /^turns\.yaml:3:5: turns\.1: .*"sya"/)
  assert.match(errorOf('- say: a\n- call:\n    tool: 7\n'), /^turns\.yaml:3:11: 1\.call\.tool: /)
  assert.match(errorOf('- {}\n'), /^turns\.yaml:1:3: 0: a turn says something or calls something/)
  assert.match(errorOf('- call: { tool: a, arguments: {}, argumentsText: "" }\n'), /not both/)
  assert.match(errorOf('- say: a\n  say: b\n'), /^turns\.yaml:2:3: .*unique/)
  assert.match(errorOf('turns: []\n'), /^turns\.yaml:1:8: turns: /)
  assert.match(errorOf(''), /^turns\.yaml:1:1: /)
  assert.match(errorOf('{ "turns": [ { "say": 1 } ] }'), /^turns\.yaml:1:23: turns\.0\.say: /)
})

test('a script that cannot be read says so, and one that is too large is not read', () => {
  assert.deepEqual(readScript(join(folder, 'none.yaml')), {
    error: `${join(folder, 'none.yaml')}: cannot be read (ENOENT)`,
  })
  writeFileSync(join(folder, 'large.yaml'), ' '.repeat(1024 * 1024 + 1))
  assert.match((readScript(join(folder, 'large.yaml')) as { error: string }).error, /larger than/)
  writeFileSync(join(folder, 'good.json'), '{ "turns": [{ "say": "hello" }] }')
  assert.deepEqual(readScript(join(folder, 'good.json')), { turns: [{ say: 'hello' }] })
})
