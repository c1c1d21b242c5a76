import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { linkSync, lstatSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { canary, Plot } from './fixture.ts'
import { readNote } from './read.ts'
import { openRoot } from './root.ts'
import { standardLimits } from './rules.ts'
import { searchNotes } from './search.ts'
import { byKernel, byName, type Whereabouts } from './whereabouts.ts'

const kinds = [
  'note',
  'note',
  'note',
  'folder',
  'link to the secret',
  'relative link to the secret',
  'link to the outside folder',
  'link within',
  'link to the root',
  'hard link to the secret',
  'hard link within',
  'pipe',
] as const
type Kind = (typeof kinds)[number]

const oddName = fc.constantFrom(
  'a',
  'b',
  '%2e%2e',
  '%00',
  '..a',
  '.git',
  'a.',
  'a ',
  ' a',
  'a\\b',
  'a\nb',
  '学习',
  'é',
  'e\u0301',
  'A',
  '-rf',
  '*',
  '~',
  'a:b',
)
const stem = fc.oneof(
  { weight: 4, arbitrary: oddName },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 6 }) },
)
const name = fc
  .tuple(stem, fc.constantFrom('', '.md', '.md', '.md', '.MD', '.txt', '.md ', '.md.'))
  .map((parts) => parts.join('').replaceAll(/[/\0]/g, '_'))
const entry = fc.record({ names: fc.array(name, { minLength: 1, maxLength: 3 }), kind: fc.constantFrom(...kinds) })

const noteText = (path: string) => `first line\r\nKEEPSAKE of ${path}\n`

/** Plants one entry; entries that get in each other's way are left out, as the file system decides. */
function plant(plot: Plot, path: string, kind: Kind): void {
  const whole = join(plot.inside, path)
  try {
    mkdirSync(dirname(whole), { recursive: true })
    if (kind === 'note') plot.write(path, noteText(path))
    else if (kind === 'folder') mkdirSync(whole)
    else if (kind === 'link to the secret') symlinkSync(join(plot.outside, 'secret.md'), whole)
    else if (kind === 'relative link to the secret') symlinkSync('../outside/secret.md', whole)
    else if (kind === 'link to the outside folder') symlinkSync(plot.outside, whole)
    else if (kind === 'link within') symlinkSync(join(plot.inside, 'first.md'), whole)
    else if (kind === 'link to the root') symlinkSync(plot.inside, whole)
    else if (kind === 'hard link to the secret') linkSync(join(plot.outside, 'secret.md'), whole)
    else if (kind === 'hard link within') linkSync(join(plot.inside, 'twin.md'), whole)
    else linkSync(join(plot.outside, 'pipe'), whole)
  } catch (fault) {
    if (!(fault instanceof Error && 'code' in fault)) throw fault
  }
}

/** What the contract permits, found without any code of the server: plain files, one name, real folders, proper names. */
function permitted(plot: Plot, path = ''): string[] {
  return readdirSync(join(plot.inside, path)).flatMap((name) => {
    const below = path === '' ? name : `${path}/${name}`
    if (!/^[^.\\\p{Cc}\ufffd]([^\\\p{Cc}\ufffd]*[^\\\p{Cc}\ufffd. ])?$/u.test(name) || name === ' ') return []
    const stats = lstatSync(join(plot.inside, below))
    if (stats.isDirectory()) return permitted(plot, below)
    return stats.isFile() && stats.nlink === 1 && name.endsWith('.md') ? [below] : []
  })
}

/** All paths in the tree. (The recursive readdir of Node would follow links, round and round.) */
function planted(plot: Plot, path = ''): string[] {
  return readdirSync(join(plot.inside, path)).flatMap((name) => {
    const below = path === '' ? name : `${path}/${name}`
    return lstatSync(join(plot.inside, below)).isDirectory() ? [below, ...planted(plot, below)] : [below]
  })
}

/** Ways to ask for something else by a path that stands in the tree. */
function askedFor(plot: Plot): readonly string[] {
  const turned = planted(plot).flatMap((path) => [
    path,
    `${path}/secret.md`,
    `${path}/deeper/secret.md`,
    `${path}/../../outside/secret.md`,
    `${path}/`,
    `./${path}`,
    `${path}\0`,
    `${path}.`,
    path.toUpperCase(),
    path.replaceAll('.', '%2e'),
    path.replaceAll('/', '\\'),
    path.normalize('NFD'),
    join(plot.inside, path),
  ])
  const outside = [
    '../outside/secret.md',
    '..%2foutside%2fsecret.md',
    '..\\outside\\secret.md',
    join(plot.outside, 'secret.md'),
    `file://${plot.outside}/secret.md`,
  ]
  return [...new Set([...turned, ...outside])]
}

async function check(plot: Plot, whereabouts: Whereabouts, extra: readonly string[]): Promise<void> {
  const root = await openRoot(plot.inside, whereabouts)
  const signal = AbortSignal.timeout(20_000)
  const expected = permitted(plot)
  for (const path of new Set([...askedFor(plot), ...extra])) {
    const page = await readNote(root, { path, offset: 0, limit: 10 }, standardLimits, signal)
    const told = JSON.stringify(page.ok ? { ...page.value, path: '' } : page.problem)
    assert.ok(!told.includes(canary) && !told.includes(plot.base), `${JSON.stringify(path)} → ${told}`)
    assert.equal(page.ok, expected.includes(path), `${JSON.stringify(path)} → ${told}`)
    if (page.ok) assert.equal(page.value.text, noteText(path))
  }
  const request = { query: 'keepsake', max_results: 1_000 }
  const found = await searchNotes(root, request, standardLimits, signal)
  assert.deepEqual(
    found.matches,
    expected.toSorted().map((path) => ({ path, offset: 1, text: `KEEPSAKE of ${path}` })),
  )
  assert.equal(found.stopped_by, 'end')
  const secrets = await searchNotes(root, { ...request, query: canary }, standardLimits, signal)
  assert.deepEqual(secrets.matches, [])
}

for (const [name, whereabouts] of Object.entries({ byKernel, byName })) {
  const skip = name === 'byKernel' && process.platform !== 'linux' && 'needs /proc'
  test(
    `${name}: whatever the tree holds, exactly its own plain notes are read and found, and nothing from outside`,
    { skip },
    async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.array(entry, { minLength: 3, maxLength: 12 }),
          fc.array(fc.string({ unit: 'binary' }), { maxLength: 5 }),
          async (entries, extra) => {
            using plot = new Plot()
            plot.write('first.md', noteText('first.md'))
            plot.write('twin.md', noteText('twin.md'))
            execFileSync('mkfifo', [join(plot.outside, 'pipe')])
            for (const { names, kind } of entries) plant(plot, names.join('/'), kind)
            await check(plot, whereabouts, extra)
          },
        ),
        { numRuns: 30 },
      )
    },
  )
}

test(
  'no open file is left behind, whether a path is read or refused',
  { skip: process.platform !== 'linux' && 'needs /proc' },
  async () => {
    using plot = new Plot()
    plot.write('first.md', noteText('first.md'))
    plot.write('folder/large.md', 'x'.repeat(2_000_000))
    plot.write('twin.md', noteText('twin.md'))
    plot.write('latin.md', Buffer.from('café', 'latin1'))
    execFileSync('mkfifo', [join(plot.outside, 'pipe')])
    for (const [number, kind] of kinds.entries()) plant(plot, `${number}.md`, kind)
    const open = () => readdirSync('/proc/self/fd').length
    await check(plot, byKernel, []).catch(() => undefined)
    const before = open()
    const root = await openRoot(plot.inside)
    for (const path of planted(plot))
      await readNote(root, { path, offset: 0, limit: 1 }, standardLimits, AbortSignal.timeout(5_000))
    await searchNotes(root, { query: 'x', max_results: 1 }, standardLimits, AbortSignal.timeout(5_000))
    assert.equal(open(), before)
  },
)
