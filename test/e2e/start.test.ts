import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { loadConfig } from '../../src/config/load.ts'
import { startGateway } from '../../src/gateway/build.ts'
import { ownHome } from '../../src/gateway/ownership.ts'
import { fixture, makeSite } from '../fixtures/site.ts'

function running(marker: string): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(marker)
      } catch {
        return false
      }
    })
}

test('a start that fails says why, and leaves no server and no lock of the home behind', async (t) => {
  const site = makeSite(
    t,
    ({ effects }) => `servers: { notes: { command: node, args: [${fixture('honest')}, --effects, ${effects}] } }`,
  )
  writeFileSync(join(site.folder, 'countersign.lock.yaml'), 'version: 1\nservers: { notes: { pins: none } }\n')
  for (let n = 0; n < 2; n++) {
    const home = ownHome(site.home)
    await assert.rejects(
      startGateway(loadConfig(site.config), home, { port: 0, background: true }),
      /countersign\.lock\.yaml.*notes/s,
    )
    home.release()
    assert.deepEqual(running(site.effects), [])
  }
})
