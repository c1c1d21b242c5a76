import { z } from 'zod'
import { count, duration, moment, name, size, text } from './fields.ts'

const glob = (says: string) => text(`${says} \`*\` stands for anything.`, 256)
const effects = z.array(z.enum(['read', 'idempotent', 'keyed', 'once'])).min(1)

const channels = ['terminal', 'cli', 'console', 'elicitation'] as const

/** Keys are those of ConsentRule. */
export const consentRuleSchema = z
  .strictObject({
    name: text('Shown where the rule decides.', 100),
    tool: glob('SERVER/TOOL.').exactOptional(),
    effect: effects.exactOptional().describe('Effect classes by the profile.'),
    risk: z
      .array(z.enum(['low', 'medium', 'high']))
      .min(1)
      .exactOptional()
      .describe('Risk by the profile.'),
    principal: glob('Who asks.').exactOptional(),
    door: z
      .array(z.enum(['gateway', 'host', 'code', 'cli', 'library']))
      .min(1)
      .exactOptional()
      .describe('Where the call came in.'),
    after: z
      .array(z.enum(['tainted', 'untrusted', 'suspect']))
      .min(1)
      .exactOptional()
      .describe(
        'tainted: an argument was named by a result that nobody vouches for; untrusted: the caller was given one in the last half hour; suspect: one that reads like orders.',
      ),
    decision: z.enum(['allow', 'ask', 'deny']),
    channels: z
      .array(z.enum(channels))
      .default(['terminal', 'cli'])
      .describe('By which channels a yes counts. `elicitation` believes the client that it asked its user.'),
    approvers: z
      .array(name('Id of a principal.'))
      .min(1, 'an empty list would let nobody answer; leave `approvers` out to let any person answer')
      .exactOptional()
      .describe('Who may answer. Left out: any person.'),
    selfApproval: z
      .boolean()
      .default(false)
      .describe('May the one who asks also say yes? A single developer needs it; a team does not.'),
    expires: duration('How long the question, and then the yes, stands.').prefault('10m'),
  })
  .refine((rule) => rule.decision !== 'ask' || rule.channels.length > 0, {
    path: ['channels'],
    error: 'a rule that asks needs a channel, or nobody could ever answer',
  })
  .describe('The first rule that matches decides; every member that is given must match.')

export const budgetSchema = z
  .strictObject({
    name: text('Shown where the budget is spent.', 100),
    per: z
      .enum(['all', 'tenant', 'principal', 'conversation', 'tool', 'principal+tool'])
      .default('principal')
      .describe('Who shares one count.'),
    match: z
      .strictObject({
        tool: glob('SERVER/TOOL.').exactOptional(),
        effect: effects.exactOptional(),
        principal: glob('Who asks.').exactOptional(),
        tenant: glob('Whose wall they are behind.').exactOptional(),
      })
      .default({})
      .describe('Which calls count. Nothing given: all.'),
    window: duration('How long what was spent counts.').prefault('1h'),
    calls: count('Calls within the window.', 0, 1_000_000_000).exactOptional(),
    wall: duration('Time spent waiting for servers within the window.').exactOptional(),
    resultBytes: size('Bytes of results within the window.').exactOptional(),
    sameCall: count('The very same call with the very same result, within the window.', 1, 100_000).exactOptional(),
    concurrency: count('Calls at one time.', 0, 100_000).exactOptional(),
  })
  .refine((it) => (it.calls ?? it.wall ?? it.resultBytes ?? it.sameCall ?? it.concurrency) !== undefined, {
    error: 'expected at least one of `calls`, `wall`, `resultBytes`, `sameCall`, `concurrency`',
  })
  .describe('A limit on what may be spent.')

export const principalSchema = z
  .strictObject({
    id: name('Id of the principal; unique.'),
    tenant: name('The wall around what is theirs.'),
    kind: z.enum(['service', 'user']).default('service'),
    tokenFile: text('File that holds the bearer token, mode 0600, relative to this file.').exactOptional(),
    tokenSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/, 'expected 64 lower-case hex digits')
      .exactOptional()
      .describe('SHA-256 of the bearer token, where the token itself is kept elsewhere.'),
    groups: z.array(name('A group.')).max(64).default([]).describe('For policies.'),
    expires: moment('From that moment on the token is refused.').exactOptional(),
  })
  .refine((it) => (it.tokenFile === undefined) !== (it.tokenSha256 === undefined), {
    error: 'expected exactly one of `tokenFile` and `tokenSha256`',
  })
  .describe('Somebody besides the local user who may call.')
