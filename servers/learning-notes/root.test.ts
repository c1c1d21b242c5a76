import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import {
  appendFileSync,
  chmodSync,
  closeSync,
  constants,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'

import { canary, Plot, withoutPrivilege } from './fixture.ts'
import type { ProblemCode } from './problem.ts'
import { readNote, textAt } from './read.ts'
import { openFolder, openNote, openRoot } from './root.ts'
import { standardLimits } from './rules.ts'
import { byKernel, byName } from './whereabouts.ts'

async function codeOf(plot: Plot, path: string): Promise<ProblemCode | 'read'> {
  const root = await openRoot(plot.inside)
  const request = { path, offset: 0, limit: 10 }
  const page = await readNote(root, request, standardLimits, AbortSignal.timeout(5_000))
  if (page.ok) {
    assert.ok(!page.value.text.includes(canary))
    return 'read'
  }
  assert.ok(!page.problem.say.includes(plot.base), 'no sentence holds an absolute path')
  return page.problem.code
}

test('a note is read, in a folder too, and an empty one as well', async () => {
  using plot = new Plot()
  plot.write('a.md', 'one\n')
  plot.write('deep/er/学习 %2e%2e.md', 'one\n')
  plot.write('empty.md', '')
  for (const path of ['a.md', 'deep/er/学习 %2e%2e.md', 'empty.md']) assert.equal(await codeOf(plot, path), 'read')
})

test('what is not there, or lies behind a file, is not_found, and so is every encoded trick', async () => {
  using plot = new Plot()
  plot.write('a.md', 'one\n')
  for (const path of ['b.md', 'a.md/b.md', '%2e%2e/outside/secret.md', 'a%2emd.md', `${'n'.repeat(300)}.md`])
    assert.equal(await codeOf(plot, path), 'not_found', path)
})

test('a name that does not end in .md in lower case is wrong_type, whether it exists or not', async () => {
  using plot = new Plot()
  plot.write('a.txt', 'one\n')
  plot.write('A.MD', 'one\n')
  plot.write('md', 'one\n')
  for (const path of ['a.txt', 'A.MD', 'a.Md', 'md', 'b.txt', 'a.md.txt', 'no/b'])
    assert.equal(await codeOf(plot, path), 'wrong_type', path)
})

test('a folder is is_directory, also when its name ends in .md', async () => {
  using plot = new Plot()
  plot.write('folder/a.md', 'one\n')
  plot.write('folder.md/a.md', 'one\n')
  assert.equal(await codeOf(plot, 'folder'), 'is_directory')
  assert.equal(await codeOf(plot, 'folder.md'), 'is_directory')
})

test('a symbolic link is refused wherever it stands and wherever it leads, and tells nothing of what is outside', async () => {
  using plot = new Plot()
  plot.write('a.md', 'one\n')
  symlinkSync(join(plot.outside, 'secret.md'), join(plot.inside, 'out.md'))
  symlinkSync('../outside/secret.md', join(plot.inside, 'relative.md'))
  symlinkSync('a.md', join(plot.inside, 'within.md'))
  symlinkSync('/dev/zero', join(plot.inside, 'device.md'))
  symlinkSync('loop.md', join(plot.inside, 'loop.md'))
  symlinkSync(plot.outside, join(plot.inside, 'away'))
  for (const path of ['out.md', 'relative.md', 'within.md', 'device.md', 'loop.md'])
    assert.equal(await codeOf(plot, path), 'link_refused', path)
  // The same answer for what exists outside and for what does not.
  for (const path of ['away/secret.md', 'away/nothing.md', 'away/deeper/secret.md', 'away/x.txt'])
    assert.equal(await codeOf(plot, path), 'link_refused', path)
})

test('a file with a second hard link is refused, and read again when the other name is gone', async () => {
  using plot = new Plot()
  const other = join(plot.outside, 'secret.md')
  linkSync(other, join(plot.inside, 'hard.md'))
  assert.equal(await codeOf(plot, 'hard.md'), 'hard_link_refused')
  writeFileSync(other, 'harmless\n')
  rmSync(other)
  assert.equal(await codeOf(plot, 'hard.md'), 'read')
})

test('a pipe that nobody writes to and a socket are not_regular at once', async () => {
  using plot = new Plot()
  execFileSync('mkfifo', [join(plot.inside, 'pipe.md')])
  const server = createServer().listen(join(plot.inside, 'socket.md'))
  await once(server, 'listening')
  assert.equal(await codeOf(plot, 'pipe.md'), 'not_regular')
  assert.equal(await codeOf(plot, 'socket.md'), 'not_regular')
  await new Promise((resolve) => server.close(resolve))
})

test(
  'a pipe or a link that takes the place of a note at the last moment is opened without waiting and refused',
  { timeout: 5_000 },
  async (t) => {
    const plot = new Plot()
    const pipe = join(plot.inside, 'pipe.md')
    execFileSync('mkfifo', [pipe])
    symlinkSync(join(plot.outside, 'secret.md'), join(plot.inside, 'link.md'))
    t.after(() => {
      // Sets a reader free that waits after all, or else this process would never end.
      closeSync(openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK))
      plot[Symbol.dispose]()
    })
    const root = await openRoot(plot.inside)
    const opened = await openNote(root, ['pipe.md'])
    assert.equal(!opened.ok && opened.problem.code, 'not_regular')
    const link = await openNote(root, ['link.md'])
    assert.equal(!link.ok && link.problem.code, 'link_refused')
  },
)

test('a device is not_regular', async (t) => {
  using plot = new Plot()
  try {
    execFileSync('mknod', [join(plot.inside, 'zero.md'), 'c', '1', '5'], { stdio: 'ignore' })
  } catch {
    return t.skip('only a privileged user can make a device file')
  }
  assert.equal(await codeOf(plot, 'zero.md'), 'not_regular')
})

test('what permissions forbid is unreadable, both a note and a folder', async (t) => {
  using plot = new Plot()
  plot.write('open.md', 'one\n')
  chmodSync(plot.base, 0o755)
  chmodSync(plot.write('closed.md', 'one\n'), 0o000)
  plot.write('shut/a.md', 'one\n')
  chmodSync(join(plot.inside, 'shut'), 0o000)
  const codes = await withoutPrivilege(async () => {
    const reached = await codeOf(plot, 'open.md').catch(() => undefined)
    return reached && [reached, await codeOf(plot, 'closed.md'), await codeOf(plot, 'shut/a.md')]
  })
  chmodSync(join(plot.inside, 'shut'), 0o755)
  if (codes === undefined)
    return t.skip('the user nobody cannot be taken on, or cannot reach the folder for temporary files')
  assert.deepEqual(codes, ['read', 'unreadable', 'unreadable'])
})

test('a note above the size limit is too_large, one of exactly the limit is read', async () => {
  using plot = new Plot()
  truncateSync(plot.write('huge.md', ''), standardLimits.file_bytes + 1)
  plot.write('full.md', `${'x'.repeat(1_023)}\n`.repeat(1_024))
  assert.equal(await codeOf(plot, 'huge.md'), 'too_large')
  assert.equal(await codeOf(plot, 'full.md'), 'read')
})

test('a note that grows while it is read ends at the size limit', async () => {
  using plot = new Plot()
  const path = plot.write('growing.md', 'x')
  const growing = new AbortController().signal
  const throwIfAborted = () => appendFileSync(path, 'x'.repeat(70_000))
  const text = await textAt(
    await openRoot(plot.inside),
    ['growing.md'],
    standardLimits,
    Object.assign(growing, { throwIfAborted }),
  )
  assert.equal(!text.ok && text.problem.code, 'too_large')
})

test('a note in another encoding is not_utf8', async () => {
  using plot = new Plot()
  plot.write('latin.md', Buffer.from('café', 'latin1'))
  plot.write('sixteen.md', Buffer.from('\ufeffcafé', 'utf16le'))
  assert.equal(await codeOf(plot, 'latin.md'), 'not_utf8')
  assert.equal(await codeOf(plot, 'sixteen.md'), 'not_utf8')
})

for (const [name, whereabouts] of Object.entries({ byKernel, byName })) {
  const skip = name === 'byKernel' && process.platform !== 'linux' && 'needs /proc'
  test(
    `${name}: a parent that became a link after it was looked at is noticed on the open file`,
    { skip },
    async () => {
      using plot = new Plot()
      const root = await openRoot(plot.inside, whereabouts)
      symlinkSync(plot.outside, join(plot.inside, 'away'))
      const note = await openNote(root, ['away', 'secret.md'])
      assert.equal(!note.ok && note.problem.code, 'moved')
      const folder = await openFolder(root, ['away', 'deeper'])
      assert.equal(!folder.ok && folder.problem.code, 'moved')
    },
  )

  test(`${name}: a root that is swapped for a link while the server runs is refused`, { skip }, async () => {
    using plot = new Plot()
    const root = await openRoot(plot.inside, whereabouts)
    rmSync(plot.inside, { recursive: true })
    symlinkSync(plot.outside, plot.inside)
    const note = await openNote(root, ['secret.md'])
    assert.equal(!note.ok && note.problem.code, 'moved')
  })
}

test('a root given through a link is taken at its real path, and known by its own name only', async () => {
  using plot = new Plot()
  symlinkSync(plot.inside, join(plot.base, 'alias'))
  plot.write('a.md', 'one\n')
  const root = await openRoot(join(plot.base, 'alias'))
  assert.equal(root.name, 'inside')
  const opened = await openNote(root, ['a.md'])
  assert.ok(opened.ok)
  await opened.value.handle.close()
})

test('a root that is missing, a file or a pipe is a fault with a sentence', async () => {
  using plot = new Plot()
  execFileSync('mkfifo', [join(plot.base, 'pipe')])
  await assert.rejects(openRoot(join(plot.base, 'none')), /does not exist or cannot be reached/)
  await assert.rejects(openRoot(join(plot.outside, 'secret.md')), /is not a folder that can be opened/)
  await assert.rejects(openRoot(join(plot.base, 'pipe')), /is not a folder that can be opened/)
})

test('a link that takes the place of a folder again and again never lets a read through to the outside', async () => {
  using plot = new Plot()
  plot.write('a/secret.md', 'harmless\n')
  const [a, kept, away] = ['a', 'kept', 'away'].map((name) => join(plot.inside, name)) as [string, string, string]
  symlinkSync(plot.outside, away)
  const seen = new Set<string>()
  const root = await openRoot(plot.inside)
  for (let turn = 0; turn < 300; turn += 1) {
    // The read is under way, in its own threads, while the names change here.
    const reading = readNote(
      root,
      { path: 'a/secret.md', offset: 0, limit: 1 },
      standardLimits,
      AbortSignal.timeout(5_000),
    )
    for (let swap = 0; swap < 4; swap += 1) {
      await new Promise(setImmediate)
      renameSync(a, kept)
      renameSync(away, a)
      await new Promise(setImmediate)
      renameSync(a, away)
      renameSync(kept, a)
    }
    const page = await reading
    seen.add(page.ok ? page.value.text : page.problem.code)
  }
  assert.ok(![...seen].some((text) => text.includes(canary)), [...seen].join())
})
