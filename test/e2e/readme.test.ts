import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { after, test } from 'node:test'

const root = join(import.meta.dirname, '..', '..')
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const work = mkdtempSync(join(tmpdir(), 'countersign-readme-'))

// The quick start as it is, on a copy, so that what the examples write is not left in the checkout.
cpSync(join(root, 'examples', 'quickstart'), join(work, 'examples', 'quickstart'), {
  recursive: true,
  filter: (path) => !path.includes('.countersign') && !path.endsWith('tour.md') && !path.endsWith('memory.jsonl'),
})
for (const name of ['servers', 'node_modules']) symlinkSync(join(root, name), join(work, name))
const env = {
  ...process.env,
  COUNTERSIGN_CONFIG: join(work, 'examples', 'quickstart', 'countersign.yaml'),
  COUNTERSIGN_HOME: join(work, 'home'),
  NO_COLOR: '1',
}
let transcript = ''

/** Runs one command of the README; resolves with its exit code. */
function countersign(words: readonly string[]): Promise<number | null> {
  const child = spawn(process.execPath, [join(root, 'bin', 'countersign.mjs'), ...words], { cwd: work, env })
  const keep = (part: Buffer): void => void (transcript += part.toString('utf8'))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  return new Promise((resolve) => child.on('close', resolve))
}

after(async () => {
  await countersign(['stop'])
  rmSync(work, { recursive: true, force: true, maxRetries: 5 })
})

/** `…` stands for anything, also across lines; all else is literal. */
async function appears(line: string): Promise<void> {
  const pattern = line.split(/\s*…\s*/).map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  const wanted = new RegExp(pattern.join('[^]*?'))
  for (const end = Date.now() + 20_000; !wanted.test(transcript); await pause(50)) {
    if (Date.now() > end) assert.fail(`the README shows “${line}”, and the output is:\n${transcript}`)
  }
}

test('what the README shows in its consoles is what happens', { timeout: 120_000 }, async () => {
  const blocks = [...readme.matchAll(/^```console\n([^]*?)^```$/gm)].map(([, block]) => block!)
  assert.ok(blocks.length >= 4)
  const running: Promise<number | null>[] = []
  let code: number | null = null
  for (const block of blocks) {
    for (const line of block.split('\n').filter((text) => text !== '')) {
      const [, command] = /^\$ countersign (.*)$/.exec(line) ?? []
      if (command !== undefined) {
        const background = command.endsWith(' &')
        const id = /apr_[0-9a-z]{26}/.exec(transcript)?.[0] ?? ''
        const words = command.replace(' &', '').replace('apr_…', id).split(' ')
        const run = countersign(words)
        if (background) running.push(run)
        else code = await run
      } else if (line === '$ echo $?') continue
      else if (/^\d+$/.test(line)) assert.equal(code, Number(line))
      else await appears(line.trim())
    }
  }
  assert.deepEqual(await Promise.all(running), [0])
})

test('the files that the README links to are there', () => {
  for (const [, target] of readme.matchAll(/\]\(([^)#]+)\)/g)) {
    if (!target!.startsWith('http')) readFileSync(join(root, target!))
  }
})

test('the README names npm scripts that exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>
  }
  for (const [, name] of readme.matchAll(/npm run (?:-s )?([a-z:]+)/g)) assert.ok(Object.hasOwn(scripts, name!), name)
  assert.ok('start' in scripts && 'test' in scripts)
})
