import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { test } from 'node:test'
import { order } from '../src/flow/order.ts'

const root = join(import.meta.dirname, '..')

/** Folders of `src/` in the order of the data. A file may import from its own row and from the rows before it. */
const rows: readonly string[] = [
  'words',
  'verifier',
  'flow/order.ts',
  'flow/points.ts',
  'flow/gate.ts',
  'flow/line.ts',
  ...order.map((step) => `flow/${step}`),
  'flow/answer.ts',
  'flow/asking.ts',
  'flow/needs.ts',
  'flow/turn-away.ts',
  'flow/recorded.ts',
  'flow/conduct.ts',
  'flow/index.ts',
  'telemetry',
  'store',
  'identity',
  'sandbox',
  'mcp/wire',
  'mcp/upstream',
  'mcp/catalogue',
  'mcp/downstream',
  'model',
  'code',
  'config',
  'api',
  'gateway',
  'cli',
  'index.ts',
]

function rank(path: string): number {
  return rows.findIndex((row) => path === row || path.startsWith(`${row}/`))
}

const sources = globSync('src/**/*.ts', { cwd: root })
  .filter((file) => !file.endsWith('.test.ts'))
  .toSorted()

/** Every relative import of a file, type-only ones too, as a path below `src/`. */
function importsOf(file: string): { readonly to: string; readonly typeOnly: boolean }[] {
  const text = readFileSync(join(root, file), 'utf8')
  const found = text.matchAll(/^(?:import|export)\s+(type\s)?[^'"]*?from\s+'(\.[^']+)'|import\('(\.[^']+)'\)/gm)
  return [...found].map(([, typeOnly, target, lazy]) => ({
    to: relative(join(root, 'src'), join(root, dirname(file), (target ?? lazy)!)),
    typeOnly: typeOnly !== undefined,
  }))
}

test('every file of src stands in a row of the order', () => {
  assert.ok(sources.length > 50)
  assert.deepEqual(
    sources.filter((file) => rank(relative('src', file)) < 0),
    [],
  )
})

test('every import points to the same row or to one before it', () => {
  const wrong: string[] = []
  for (const file of sources) {
    const from = relative('src', file)
    for (const { to } of importsOf(file))
      if (rank(to) > rank(from)) wrong.push(`${from} imports ${to}, which comes after it`)
  }
  assert.deepEqual(wrong, [])
})

test('only the flow imports the gate that mints an authorised action', () => {
  const minting = sources.filter((file) =>
    /import\s*\{[^}]*\baction\b[^}]*\}\s*from\s*'[^']*action\/index\.ts'/.test(readFileSync(join(root, file), 'utf8')),
  )
  assert.deepEqual(minting, ['src/flow/index.ts'])
})

test('nothing outside mcp knows which protocol era a hop speaks', () => {
  const knowing = sources.filter((file) => {
    const from = relative('src', file)
    if (from.startsWith('mcp/')) return false
    return importsOf(file).some(({ to }) => to.startsWith('mcp/wire') && !to.endsWith('revisions.ts'))
  })
  assert.deepEqual(knowing, [])
})

test('no room has a name that says nothing', () => {
  assert.deepEqual(
    sources.filter((file) => /\/(utils?|common|helpers?|misc|types|manager)(\/|\.ts$)/.test(file)),
    [],
  )
})

test('no source file has grown past 400 lines', () => {
  const long = sources
    .map((file) => [file, readFileSync(join(root, file), 'utf8').split('\n').length] as const)
    .filter(([, lines]) => lines > 400)
  assert.deepEqual(long, [])
})
