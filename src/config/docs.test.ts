import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parseConfig } from './load.ts'
import { configJsonSchema } from './schema.ts'

const page = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8')

/** Names of all keys that the file can have; not those of servers, roots and tools, which are the user's own. */
function keysOf(schema: unknown, found = new Set<string>()): Set<string> {
  if (typeof schema !== 'object' || schema === null) return found
  if ('properties' in schema) for (const key of Object.keys(schema.properties as object)) found.add(key)
  for (const part of Object.values(schema)) keysOf(part, found)
  return found
}

test('docs/configuration.md names every key', () => {
  const missing = [...keysOf(configJsonSchema())].filter(
    (key) => !['$schema', '$argument', '$operation'].includes(key) && !new RegExp(`[\`.]${key}\``).test(page),
  )
  assert.deepEqual(missing, [])
})

test('every sample in docs/configuration.md is a configuration without a fault', () => {
  const samples = [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, text]) => text!)
  assert.ok(samples.length >= 7)
  for (const sample of samples) parseConfig('/srv/agent/countersign.yaml', sample, { EXAMPLE_TOKEN: 'x' })
})

test('the defaults in docs/configuration.md are those in force', () => {
  const config = parseConfig('/srv/agent/countersign.yaml', 'servers: { s: { command: x } }', {})
  const stated = Object.fromEntries(
    [...page.matchAll(/^\| `([\w.]+)` \| `([^`]*)` \|/gm)].map(([, key, value]) => [key!, value!]),
  )
  assert.equal(stated['port'], String(config.endpoint.port))
  assert.equal(stated['limits.resultBytes'], `${config.limits.resultBytes / 1024}KiB`)
  assert.equal(stated['limits.argumentDepth'], String(config.limits.argumentDepth))
  assert.equal(stated['ledger.repeatWindow'], `${config.ledger.repeatWindowMs / 60_000}m`)
  assert.equal(stated['resources'], config.servers[0]!.resources)
  assert.match(page, new RegExp(`^\\| \`mode\` \\| [^|]*\`${config.servers[0]!.sandbox}\` \\|`, 'm'))
  assert.equal(stated['connectTimeout'], `${config.servers[0]!.spec.connectTimeoutMs / 1000}s`)
})
