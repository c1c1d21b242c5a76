import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

const root = join(import.meta.dirname, '..')
const launcher = join(root, 'bin', 'countersign.mjs')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

test('npm scripts run on Node 24, whatever Node the system has', () => {
  assert.match(process.version, /^v24\./)
  const { stdout } = spawnSync('npm', ['exec', '--offline', '--', 'node', '--version'], { cwd: root, encoding: 'utf8' })
  assert.match(stdout, /^v24\./)
})

test('on an older Node the launcher says what to do instead of failing on syntax', () => {
  // What the launcher looks at is the version that the process says it has.
  const old =
    'data:text/javascript,Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })'
  const { status, stderr } = spawnSync(process.execPath, ['--import', old, launcher, 'version'], { encoding: 'utf8' })
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^countersign needs Node 24 or newer, and this is v.*Run it through npm .* or install Node 24 and try again\.\n$/,
  )
})

test('the launcher itself is written so that Node 20 can read it', () => {
  const system = spawnSync('/usr/bin/env', ['-i', 'PATH=/usr/local/bin:/usr/bin:/bin', 'node', '--version'], {
    encoding: 'utf8',
  })
  if (!/^v(18|20|22)\./.test(system.stdout)) return
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin' }
  const { status, stderr } = spawnSync('node', [launcher, 'version'], { encoding: 'utf8', env })
  assert.equal(status, 1)
  assert.match(stderr, /needs Node 24/)
})

test('every version is exact', () => {
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies }))
    assert.match(version, /^\d+\.\d+\.\d+(-[\w.]+)?$/, name)
})
