import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { launcher, workshop, workshopWith } from './cli.fixture.ts'

const words = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t')[0]!)

test('commands, options, clients and the names of a gateway that runs are suggested', async () => {
  await using shop = await workshopWith({ servers: () => Promise.resolve([]) })
  const suggest = async (...typed: string[]) =>
    words((await shop.run(['completion', 'suggest', '--', ...typed])).stdout)
  assert.deepEqual(await suggest('disc'), ['disconnect'])
  assert.ok((await suggest('server', '')).includes('approve'))
  assert.ok((await suggest('connect', 'cursor', '--dr')).includes('--dry-run'))
  assert.deepEqual(await suggest('connect', 'claude-'), ['claude-code', 'claude-desktop'])
  assert.deepEqual(await suggest('completion', 'z'), ['zsh'])
})

test('nothing is started for a completion, and bash understands the script', async () => {
  using shop = workshop()
  await shop.run(['init'])
  assert.deepEqual(words((await shop.run(['completion', 'suggest', '--', 'call', ''])).stdout), [])
  assert.equal((await shop.run(['status', '--json'])).stdout.includes('"pid"'), false)
  const script = (await shop.run(['completion', 'bash'])).stdout
  const bin = join(shop.folder, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'countersign'), `#!/bin/sh\nexec "${process.execPath}" "${launcher}" "$@"\n`, { mode: 0o755 })
  const typed = `${script}\nCOMP_WORDS=(countersign connect claude-d); COMP_CWORD=2; _countersign; printf '%s\\n' "\${COMPREPLY[@]}"`
  const env = { PATH: `${bin}:${process.env['PATH']}`, HOME: shop.folder }
  const { stdout, stderr } = spawnSync('bash', ['-c', typed], {
    cwd: shop.folder,
    env,
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.equal(stdout.trim(), 'claude-desktop', stderr)
  assert.equal((await shop.run(['completion', 'tcsh'])).code, 2)
})

test('logs prints the last lines, without what a terminal would obey', async () => {
  using shop = workshop()
  await shop.run(['init'])
  writeFileSync(join(shop.folder, '.countersign', 'gateway.log'), 'one\ntwo\n\u001b[31mthree\n')
  const { stdout, code } = await shop.run(['logs', '--lines', '2'])
  assert.equal(code, 0)
  assert.match(stdout, /^two\n/)
  assert.match(stdout, /three/)
  assert.ok(!stdout.includes('\u001b'))
})
