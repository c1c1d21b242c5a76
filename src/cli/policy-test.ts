import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { CedarPolicies } from '../flow/resource/policy.ts'
import { accesses } from '../flow/resource/cedar-schema.ts'
import { readPolicies } from '../gateway/policies.ts'
import type { Context } from './context.ts'
import { type Exit, exits } from './exits.ts'
import { UsageFault } from './fault.ts'
import { plain } from './render/width.ts'

const scope = z.strictObject({
  kind: z.enum(['path', 'url', 'host', 'repo', 'table', 'record', 'literal']),
  value: z.string(),
  access: z.enum(accesses),
  within: z.array(z.string()).default([]),
  hardLinked: z.literal(true).exactOptional(),
})

const caseSchema = z.strictObject({
  name: z.string().min(1),
  principal: z.strictObject({
    id: z.string(),
    kind: z.enum(['user', 'service']).default('user'),
    tenant: z.string().default('local'),
    groups: z.array(z.string()).default([]),
    scopes: z.array(z.string()).exactOptional(),
  }),
  /** SERVER/NAME by the server's own names. */
  tool: z.string().regex(/^[^/]+\/.+$/, 'expected SERVER/TOOL'),
  kind: z.enum(['tool', 'prompt', 'resource']).default('tool'),
  effect: z.enum(['read', 'idempotent', 'keyed', 'once']).default('once'),
  risk: z.enum(['low', 'medium', 'high']).default('high'),
  declared: z.boolean().default(true),
  door: z.enum(['gateway', 'host', 'code', 'cli', 'library']).default('gateway'),
  after: z.array(z.enum(['tainted', 'untrusted', 'suspect'])).default([]),
  touches: z.array(scope).default([]),
  expect: z.enum(['permit', 'deny', 'unseen']),
})
const file = z.array(caseSchema).min(1)
type Case = z.infer<typeof caseSchema>

export interface PolicyTestOptions {
  readonly policy?: string
}

interface Judged {
  readonly name: string
  readonly expected: Case['expect']
  readonly found: 'permit' | 'deny' | 'unseen' | 'error'
  readonly because: readonly string[]
}

/** Asks policies about calls that a file describes, and compares what they say with what the file expects. Contacts nothing. */
export async function testPolicies(context: Context, given: string, { policy }: PolicyTestOptions): Promise<Exit> {
  const { io } = context
  const folder = policy === undefined ? (await context.config()).policy : resolve(policy)
  const policies = new CedarPolicies(readPolicies(folder))
  if (!policies.checked.ok)
    throw new UsageFault(
      `${folder}: ${policies.checked.messages[0] ?? 'the policies have a fault'}`,
      'See `countersign policy check`.',
    )
  const judged = casesOf(given).map((one) => judge(policies, one))
  const wrong = judged.filter(({ expected, found }) => expected !== found)
  if (io.json) io.outJson({ policy: policies.version, cases: judged.length, wrong: wrong.length, judged })
  else {
    for (const { name, expected, found, because } of judged) {
      const mark = expected === found ? io.paint('green', '✓') : io.paint('red', '✗')
      const said = expected === found ? found : `${found}, and not ${expected}`
      io.out(`${mark} ${plain(name)}: ${said}${because.length === 0 ? '' : ` (${plain(because.join(', '))})`}`)
    }
    io.out(`${judged.length} cases, ${wrong.length} not as expected`)
  }
  return wrong.length === 0 ? exits.done : exits.refused
}

function casesOf(given: string): readonly Case[] {
  const path = resolve(given)
  let value: unknown
  try {
    value = parse(readFileSync(path, 'utf8'), { maxAliasCount: 100 })
  } catch (fault) {
    throw new UsageFault(
      `${given} cannot be read: ${fault instanceof Error ? fault.message.split('\n')[0]! : String(fault)}`,
    )
  }
  const read = file.safeParse(value)
  if (read.success) return read.data
  const { path: at, message } = read.error.issues[0]!
  throw new UsageFault(
    `${given}: ${at.join('.')}: ${message}`,
    `See docs/policy.md; the file lies in ${dirname(path)}.`,
  )
}

function judge(policies: CedarPolicies, one: Case): Judged {
  const { tool, principal, effect, risk, declared, door, after, touches, name, expect: expected, kind } = one
  const slash = tool.indexOf('/')
  const asking = {
    principal,
    tool: {
      kind,
      key: tool,
      server: tool.slice(0, slash),
      name: tool.slice(slash + 1),
      profile: { effect, risk, declared },
    },
    proposal: { origin: { door } },
  }
  if (!policies.sees(asking.principal, asking.tool)) return { name, expected, found: 'unseen', because: [] }
  const taint = {
    tainted: after.includes('tainted'),
    untrusted: after.includes('untrusted'),
    suspect: after.includes('suspect'),
    values: [],
  }
  const answer = policies.decide(asking, touches, 0, taint)
  const because = answer.kind === 'error' ? answer.messages : answer.policies
  return { name, expected, found: answer.kind, because }
}
