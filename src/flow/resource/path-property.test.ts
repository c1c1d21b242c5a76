import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, test } from 'node:test'
import * as fc from 'fast-check'
import { locate, survey } from './path.ts'

const top = realpathSync(mkdtempSync(join(tmpdir(), 'countersign-trees-')))
after(() => rmSync(top, { recursive: true }))

const name = fc.constantFrom('a', 'b')
const folder = fc.constantFrom('root', 'root', 'root/a', 'root/b', 'root/a/b', 'root-other', 'root-other/a')
const part = fc.oneof({ weight: 6, arbitrary: name }, { weight: 1, arbitrary: fc.constantFrom('..', '.', '') })
const relative = fc.array(part, { minLength: 1, maxLength: 6 }).map((parts) => parts.join('/'))
const entry = fc.record({
  at: fc.tuple(folder, name).map((both) => both.join('/')),
  is: fc.oneof(
    fc.constantFrom('folder', 'file'),
    fc.record({
      to: fc.oneof(
        relative,
        fc.tuple(folder, relative).map(([start, rest]) => ({ under: `${start}/${rest}` })),
      ),
    }),
  ),
})
const asked = fc.oneof(
  relative,
  fc.tuple(folder, relative).map(([start, rest]) => ({ under: `${start}/${rest}` })),
)

/** Builds a tree of folders, files and links as far as the entries fit together, and gives its top. */
function plant(entries: readonly (typeof entry extends fc.Arbitrary<infer Entry> ? Entry : never)[]): string {
  const here = mkdtempSync(join(top, 't'))
  for (const start of ['root', 'root-other']) mkdirSync(join(here, start))
  for (const { at, is } of entries) {
    try {
      mkdirSync(dirname(join(here, at)), { recursive: true })
      if (is === 'folder') mkdirSync(join(here, at), { recursive: true })
      else if (is === 'file') writeFileSync(join(here, at), '', { flag: 'wx' })
      else if (typeof is.to === 'string') symlinkSync(is.to, join(here, at))
      else symlinkSync(`${here}/${is.to.under}`, join(here, at))
    } catch {
      // Something else is there already.
    }
  }
  return here
}

/** What the kernel makes of the path, or of the deepest part of it that exists. */
function kernel(path: string): { real: string; whole: boolean } {
  for (let part = path, whole = true; ; part = dirname(part), whole = false) {
    try {
      return { real: realpathSync.native(part), whole }
    } catch {
      assert.notEqual(part, '/')
    }
  }
}

test('whatever is said to lie in a root really lies there, for the kernel and for who tidies the text first', () => {
  let inside = 0
  let links = 0
  fc.assert(
    fc.property(
      fc.array(entry, { maxLength: 14 }),
      fc.array(asked, { minLength: 1, maxLength: 12 }),
      (entries, paths) => {
        const here = plant(entries)
        const root = join(here, 'root')
        const ground = survey([{ name: 'root', path: root }], [])
        for (const one of paths) {
          const text = typeof one === 'string' ? one : `${here}/${one.under}`
          if (text.startsWith('//') || text === '') continue
          const raw = text.startsWith('/') ? text : `${root}/${text}`
          const answer = locate(text, 'read', 'root', ground)
          const found = kernel(raw)
          const tidied = kernel(resolve(raw))
          if ('because' in answer) {
            // No more is refused than has to be: what exists inside, without `..`, is found.
            const plain = found.whole && !text.split('/').includes('..')
            assert.ok(!(plain && within(found.real, root)), `${text} is refused: ${answer.because}`)
            continue
          }
          inside++
          assert.deepEqual(answer.within, ['root'])
          assert.ok(within(answer.value, root))
          assert.ok(within(found.real, root), `${text} is ${found.real} to the kernel`)
          assert.ok(within(tidied.real, root), `${text} is ${tidied.real} when it is tidied`)
          if (found.whole) assert.equal(answer.value, found.real)
          if (tidied.whole) assert.equal(answer.value, tidied.real)
          if (answer.value !== resolve(raw)) links++
        }
        rmSync(here, { recursive: true })
      },
    ),
    { numRuns: 250 },
  )
  assert.ok(inside > 200 && links > 2, `too few cases to mean something: ${inside} inside, ${links} by a link`)
})

function within(path: string, root: string): boolean {
  return path === root || path.startsWith(`${root}/`)
}
