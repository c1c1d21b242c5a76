import { spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { loadConfig } from '../src/config/load.ts'
import { instructionsDigest, pinOf } from '../src/flow/tool/definition.ts'
import { serverIdentity } from '../src/mcp/catalogue/identity.ts'
import { writeLock } from '../src/mcp/catalogue/lock.ts'
import type { JsonObject } from '../src/words/json.ts'
import type { Target } from './target.ts'

/** What a server says of one of its tools. */
export type Definition = JsonObject & { readonly name: string }

const launcher = join(import.meta.dirname, '..', 'bin', 'countersign.mjs')

export interface Governed {
  readonly name: string
  readonly effect: 'read' | 'once'
  readonly reads: 'grouped' | 'strict'
}

/** The same gateway with three ledgers: what differs is when a record has to be on the disk. */
export const governed: readonly Governed[] = [
  { name: 'countersign, reads grouped', effect: 'read', reads: 'grouped' },
  { name: 'countersign, reads strict', effect: 'read', reads: 'strict' },
  { name: 'countersign, once', effect: 'once', reads: 'grouped' },
]

/**
 * Writes what one gateway needs into a new folder: a configuration with a profile for each tool, a policy, and a lock file
 * that approves the definitions as they are. The URL is part of the identity that is approved, so it holds for one run.
 */
export function governedTarget(
  folder: string,
  { name, effect, reads }: Governed,
  upstreamUrl: string,
  definitions: readonly Definition[],
): Target {
  mkdirSync(join(folder, 'policy'), { recursive: true })
  const config = join(folder, 'countersign.yaml')
  const token = randomBytes(32).toString('base64url')
  const profile = { effect, risk: 'low', ...(effect === 'once' ? { repeat: 'allow' } : {}) }
  const settings = {
    principals: [{ id: 'bench', tenant: 'bench', tokenSha256: createHash('sha256').update(token).digest('hex') }],
    servers: {
      up: { url: upstreamUrl, tools: Object.fromEntries(definitions.map(({ name }) => [name, profile])) },
    },
    consent: { rules: [{ name: 'all of the bench', effect: [effect], risk: ['low'], decision: 'allow' }] },
    ledger: { reads },
  }
  // JSON is YAML too.
  writeFileSync(config, JSON.stringify(settings, undefined, 2))
  writeFileSync(
    join(folder, 'policy', 'bench.cedar'),
    'permit (principal == Service::"bench", action, resource in Server::"up");\n',
  )
  approveAll(config, definitions)
  return {
    name,
    start: ['{node}', launcher, 'up', '--no-tour', '--config', config].concat(
      '--home',
      join(folder, 'home'),
      '--port',
      '{port}',
    ),
    endpoint: 'http://127.0.0.1:{port}/mcp',
    prefix: 'up__',
    headers: { authorization: `Bearer ${token}` },
    // Two identical calls with an effect at one time are one too many, and refused.
    ...(effect === 'once' ? { vary: true } : {}),
  }
}

function approveAll(configFile: string, definitions: readonly Definition[]): void {
  const { lock, servers } = loadConfig(configFile)
  const { identity } = servers[0]!
  const identityDigest = serverIdentity(identity)
  const about = { kind: 'tool', serverIdentity: identityDigest, instructions: instructionsDigest(undefined) } as const
  const approval = { approvedAt: new Date().toISOString(), approvedBy: 'bench' }
  const tools = new Map(
    definitions.map((definition) => [
      definition.name,
      { ...approval, definition, pin: pinOf({ ...about, definition }) },
    ]),
  )
  writeLock(lock, new Map([['up', { ...approval, identity, identityDigest, tools, prompts: new Map() }]]))
}

/** What the upstream says of its tools, asked over stdio. */
export async function definitionsOf(upstream: string, tools: number): Promise<readonly Definition[]> {
  const args = [upstream, '--transport', 'stdio', '--tools', String(tools)]
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], timeout: 10_000 })
  try {
    child.stdin.write('{"jsonrpc":"2.0","id":1,"method":"tools/list"}\n')
    for await (const line of createInterface(child.stdout)) {
      const { result } = JSON.parse(line) as { result: { tools: Definition[] } }
      return result.tools
    }
    throw new Error('the upstream ended without an answer')
  } finally {
    child.kill()
  }
}
