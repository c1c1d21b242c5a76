import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { Plot } from './fixture.ts'
import { readNote } from './read.ts'
import { openRoot } from './root.ts'
import { type Limits, standardLimits } from './rules.ts'
import { type Found, type SearchRequest, searchNotes } from './search.ts'
import { whereaboutsOfPlatform } from './whereabouts.ts'

async function search(plot: Plot, query: string, changes: Partial<Limits & SearchRequest> = {}): Promise<Found> {
  const { max_results = 50, ...limits } = changes
  const root = await openRoot(plot.inside)
  return searchNotes(root, { query, max_results }, { ...standardLimits, ...limits }, AbortSignal.timeout(10_000))
}

test('matches come in the order of whole paths, then of lines, and each offset is the one that read_note takes', async () => {
  using plot = new Plot()
  const paths = ['a-b.md', 'a.md', 'a/x.md', 'a/x/y.md', 'a0.md', 'b/a.md', 'B.md', '学习.md']
  for (const path of paths) plot.write(path, 'no\r\nHere it is\r\n\r\nhere too')
  const found = await search(plot, 'here')
  assert.deepEqual(
    found.matches.map(({ path, offset }) => [path, offset]),
    paths.toSorted().flatMap((path) => [
      [path, 1],
      [path, 3],
    ]),
  )
  const root = await openRoot(plot.inside)
  for (const { path, offset, text } of found.matches) {
    const page = await readNote(root, { path, offset, limit: 1 }, standardLimits, AbortSignal.timeout(5_000))
    assert.equal(page.ok && page.value.text.trimEnd(), text)
  }
})

test('letter case and Unicode composition do not count, and nothing in the query is a pattern', async () => {
  using plot = new Plot()
  plot.write('a.md', 'CAFE\u0301 (a.b)*\n学习笔记\n')
  for (const query of ['café', 'Cafe\u0301', '(A.B)*', '学习'])
    assert.equal((await search(plot, query)).matches.length, 1, query)
  for (const query of ['a.*b', 'cafe ', '学 习']) assert.deepEqual((await search(plot, query)).matches, [], query)
})

test('a word that was written into a note is found in it, on its line', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.stringMatching(/^[a-z学习éß0-9]{1,8}$/), { minLength: 1, maxLength: 6 }),
      fc.nat(),
      async (words, at) => {
        using plot = new Plot()
        plot.write('n.md', words.join('\r\n'))
        const word = words[at % words.length] ?? ''
        const expected = words.flatMap((line, offset) =>
          line.includes(word) ? [{ path: 'n.md', offset, text: line }] : [],
        )
        assert.deepEqual((await search(plot, word)).matches, expected)
      },
    ),
    { numRuns: 30 },
  )
})

test('max_results comes back as asked, and more says whether another match exists, also when the number is met exactly', async () => {
  using plot = new Plot()
  plot.write('a.md', 'x\nx\nx\n')
  const two = await search(plot, 'x', { max_results: 2 })
  assert.deepEqual([two.max_results, two.matches.length, two.more, two.stopped_by], [2, 2, true, 'max_results'])
  const three = await search(plot, 'x', { max_results: 3 })
  assert.deepEqual([three.max_results, three.matches.length, three.more, three.stopped_by], [3, 3, false, 'end'])
})

test('what is passed over is counted by its code, and the rest is searched all the same', async () => {
  using plot = new Plot()
  plot.write('a.md', 'x\n')
  plot.write('latin.md', Buffer.from('xé', 'latin1'))
  plot.write('large.md', 'x'.repeat(600))
  plot.write('one/two/three.md', 'x\n')
  plot.write('x.txt', 'x\n')
  plot.write('.hidden/x.md', 'x\n')
  execFileSync('mkfifo', [join(plot.inside, 'pipe.md')])
  writeFileSync(Buffer.concat([Buffer.from(`${plot.inside}/`), Buffer.from([0xff]), Buffer.from('.md')]), 'x\n')
  symlinkSync(plot.outside, join(plot.inside, 'away'))
  linkSync(join(plot.outside, 'secret.md'), join(plot.inside, 'hard.md'))
  const found = await search(plot, 'x', { file_bytes: 512, folder_depth: 1 })
  assert.deepEqual(found.matches, [{ path: 'a.md', offset: 0, text: 'x' }])
  assert.deepEqual(found.skipped, {
    hard_link_refused: 1,
    too_large: 1,
    not_utf8: 1,
    link_refused: 1,
    not_regular: 1,
    too_deep: 1,
  })
  assert.deepEqual([found.files_searched, found.stopped_by], [1, 'end'])
})

test('a note whose path is longer than read_note takes is passed over, so that every path found can be read', async () => {
  using plot = new Plot()
  plot.write('long.md', 'x\n')
  plot.write('longer/and/longer.md', 'x\n')
  const found = await search(plot, 'x', { path_bytes: 12 })
  assert.deepEqual(
    found.matches.map(({ path }) => path),
    ['long.md'],
  )
  assert.deepEqual(found.skipped, { path_invalid: 1 })
})

test('a search that meets the limit of files, entries, bytes or time says which, and never passes for a whole one', async () => {
  using plot = new Plot()
  for (const number of [1, 2, 3, 4]) plot.write(`${number}.md`, 'xé\n')
  const files = await search(plot, 'x', { files_per_search: 3 })
  assert.deepEqual([files.stopped_by, files.more, files.matches.length, files.files_searched], ['files', true, 3, 3])
  assert.equal((await search(plot, 'x', { files_per_search: 4 })).stopped_by, 'end')
  const entries = await search(plot, 'x', { entries_per_search: 3 })
  assert.deepEqual([entries.stopped_by, entries.more, entries.matches.length], ['entries', true, 0])
  assert.equal((await search(plot, 'x', { entries_per_search: 4 })).stopped_by, 'end')
  // A match counts 4 bytes of path and 3 of text.
  const bytes = await search(plot, 'x', { result_bytes: 20 })
  assert.deepEqual([bytes.stopped_by, bytes.more, bytes.matches.length], ['bytes', true, 2])
  const root = await openRoot(plot.inside)
  const request = { query: 'x', max_results: 9 }
  const late = await searchNotes(root, request, standardLimits, new AbortController().signal, AbortSignal.abort())
  assert.deepEqual([late.stopped_by, late.more, late.matches.length], ['time', true, 0])
})

test('a matching line that no result can hold is named without its text', async () => {
  using plot = new Plot()
  plot.write('a.md', `${'é'.repeat(50)}\nshort é\n`)
  assert.deepEqual((await search(plot, 'é', { result_bytes: 60 })).matches, [
    { path: 'a.md', offset: 0 },
    { path: 'a.md', offset: 1, text: 'short é' },
  ])
})

test('a cancelled search stops at the next file or folder and ends with the reason of the signal', async () => {
  for (const kind of ['notes', 'empty folders']) {
    using plot = new Plot()
    for (let number = 0; number < 50; number += 1)
      if (kind === 'notes') plot.write(`${number}.md`, 'x\n')
      else mkdirSync(join(plot.inside, `${number}`))
    const cancelling = new AbortController()
    let opened = 0
    const root = await openRoot(plot.inside, {
      ...whereaboutsOfPlatform,
      of: (handle, path) => {
        opened += 1
        if (opened === 10) cancelling.abort(new Error('no longer wanted'))
        return whereaboutsOfPlatform.of(handle, path)
      },
    })
    const request = { query: 'x', max_results: 50 }
    await assert.rejects(searchNotes(root, request, standardLimits, cancelling.signal), /no longer wanted/, kind)
    assert.equal(opened, 10, kind)
  }
})

test('a read that is cancelled ends with the reason, and one that is late is timed_out', async () => {
  using plot = new Plot()
  plot.write('a.md', 'x\n')
  const root = await openRoot(plot.inside)
  const request = { path: 'a.md', offset: 0, limit: 1 }
  const never = new AbortController().signal
  await assert.rejects(
    readNote(root, request, standardLimits, AbortSignal.abort(new Error('no longer wanted'))),
    /no longer wanted/,
  )
  const late = await readNote(root, request, standardLimits, never, AbortSignal.abort())
  assert.equal(!late.ok && late.problem.code, 'timed_out')
})
