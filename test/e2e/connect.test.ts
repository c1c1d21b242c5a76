import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'node:test'

const run = promisify(execFile)
const root = join(import.meta.dirname, '..', '..')

test('from clone to the first governed call of an outside client: three commands of the README, no file edited', async (t) => {
  const section = /^## In front of a client you have\n([^]*?)^## /m.exec(
    readFileSync(join(root, 'README.md'), 'utf8'),
  )![1]!
  const commands = [.../^```\n([^]*?)^```$/m.exec(section)![1]!.matchAll(/^(\S.*)$/gm)].map(([, line]) => line!)
  assert.equal(commands.length, 3)
  assert.equal(commands[0], 'npm ci')

  // A checkout with its packages installed, which is what the first command leaves.
  const work = mkdtempSync(join(tmpdir(), 'countersign-clone-'))
  for (const part of ['package.json', 'bin', 'src', 'servers', 'examples'])
    cpSync(join(root, part), join(work, part), {
      recursive: true,
      filter: (path) => !path.includes('.countersign') && !path.endsWith('memory.jsonl'),
    })
  symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'))
  const home = join(work, 'examples', 'quickstart', '.countersign')
  const env = { ...process.env, HOME: work, INIT_CWD: work }
  const shell = (command: string) => run('sh', ['-c', command], { cwd: work, env, timeout: 120_000 })
  t.after(async () => {
    await shell('npm run -s countersign -- stop').catch(() => {})
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  })
  await shell(commands[1]!)
  const { stdout } = await shell(commands[2]!)
  assert.match(stdout, /lies inside the folder that the quick start/)
  assert.ok(existsSync(home))
  const { stdout: shown } = await shell('npm run -s countersign -- evidence show --json')
  assert.match(shown, /read_text_file/)
})
