import { z } from 'zod'
import type { Json } from '../words/json.ts'
import { undeclared } from '../flow/tool/profile.ts'
import { milliseconds, name, pointer, size } from './fields.ts'

const fromOperation = z
  .strictObject({ $operation: z.enum(['upstreamKey', 'receipt', 'task']) })
  .describe('Taken from the operation: the key that the server knows it by, what the server gave back, its task.')

const fromArgument = z
  .strictObject({ $argument: pointer('Pointer into the arguments of the judged call.') })
  .describe('Taken from the arguments of the judged call.')

const json: z.ZodType<Json, Json> = z.json().describe('Any JSON value.') as z.ZodType<Json, Json>

const conditionSchema = z
  .strictObject({
    at: pointer('Where in the result: /content/0/text, /structuredContent/total, …'),
    inJson: pointer('A pointer further into the JSON that the text at `at` holds.').exactOptional(),
    exists: z.boolean().exactOptional().describe('Is anything there at all?'),
    equals: z.union([fromArgument, fromOperation, json]).exactOptional().describe('It equals this JSON value.'),
    contains: z
      .union([z.string(), fromArgument, fromOperation])
      .exactOptional()
      .describe('It is text that holds this text.'),
  })
  .refine((it) => it.exists !== undefined || it.equals !== undefined || it.contains !== undefined, {
    error: 'expected one of `exists`, `equals` or `contains`',
  })
  .describe('One closed sentence about a result.')

const scopeSchema = z
  .strictObject({
    kind: z
      .enum(['path', 'url', 'host', 'repo', 'table', 'record', 'literal'])
      .describe('What kind of thing is touched.'),
    from: z
      .string()
      .max(1024, 'expected at most 1024 characters')
      .describe('JSON pointer into the arguments; `*` stands for every element. For `literal`, the scope itself.'),
    access: z.enum(['read', 'list', 'write', 'delete', 'execute']).describe('What the call does to it.'),
    optional: z.boolean().exactOptional().describe('A missing argument draws no scope; otherwise it is refused.'),
    base: name('`path` only: the root from which relative paths start.').exactOptional(),
  })
  .superRefine((scope, context) => {
    if (scope.kind !== 'literal' && !/^(\/([^~/]|~0|~1)*)+$/.test(scope.from))
      context.addIssue({
        code: 'custom',
        path: ['from'],
        message: 'expected a JSON pointer into the arguments, such as /path',
      })
    if (scope.kind === 'literal' && scope.from === '')
      context.addIssue({ code: 'custom', path: ['from'], message: 'expected the text of the scope' })
    if (scope.base !== undefined && scope.kind !== 'path')
      context.addIssue({ code: 'custom', path: ['base'], message: 'only a scope of kind `path` has a base' })
  })
  .describe('How one scope is drawn from the arguments of a call.')

const serverTool = (says: string) =>
  z
    .string()
    .regex(/^[^/]+\/.+$/, 'expected SERVER/TOOL')
    .describe(says)

const readBackSchema = z
  .strictObject({
    tool: serverTool('SERVER/TOOL of a tool whose profile says `effect: read`.'),
    arguments: json.describe('Arguments of the read; { $argument: /pointer } is filled from the judged call.'),
    expect: z
      .array(conditionSchema)
      .min(1, 'expected at least one condition')
      .describe('All hold: the effect is there.'),
    settleMs: milliseconds('How long to wait before each look.').prefault(500),
    tries: z
      .int()
      .min(1)
      .max(5)
      .default(3)
      .describe('How often `verify` looks, at most 5 times; `reconcile` looks until it knows.'),
    maxExecutionMs: milliseconds('After this long a call that nobody answered can no longer take effect.').prefault(
      '10m',
    ),
  })
  .describe('A governed read that tells what the world looks like after the call.')

const adapterSchema = readBackSchema
  .extend({
    by: z
      .enum(['task', 'cancel', 'status', 'read-back', 'listing'])
      .describe(
        'task: asks for the task that the server made · cancel: takes it back by its key (the tool is `idempotent`) · status: asks by key or receipt · read-back: looks for what it was to make · listing: looks for the one new entry.',
      ),
    source: z
      .enum(['read-your-writes', 'eventual'])
      .default('read-your-writes')
      .describe('A “not there” of an index that lags proves nothing.'),
    items: pointer('listing: where the entries are; `expect` then speaks of one entry.').exactOptional(),
    time: pointer('listing: where in an entry its time is, ISO 8601 or milliseconds.').exactOptional(),
  })
  .describe('One way to find out; they are tried in their order.')

const upstreamKeySchema = z
  .strictObject({
    in: z.enum(['meta', 'argument', 'header']).describe('Where the server reads the key by which it tells repeats.'),
    name: z
      .string()
      .regex(/^[A-Za-z0-9_./-]{1,100}$/, 'expected letters, digits, `_`, `.`, `/` or `-`')
      .describe('Key of `_meta`, name of the argument, or of the header.'),
    lifetimeMs: milliseconds('For so long the server remembers a key; afterwards a `keyed` tool is `once`.').prefault(
      '24h',
    ),
  })
  .describe(
    'The key is made by Countersign for each operation; an argument of that name that a model sends is dropped.',
  )

const receiptSchema = z
  .strictObject({
    conditions: z
      .array(conditionSchema)
      .min(1)
      .exactOptional()
      .describe('All hold of a success; without them the outcome is unknown, whatever the answer says.'),
    at: pointer(
      'Where in the result the server names what it made: an id that somebody could look up.',
    ).exactOptional(),
  })
  .describe('What a success has to contain.')

/** Keys are those of ToolProfile; a default is what holds where nothing is declared. */
export const profileSchema = z
  .strictObject({
    effect: z
      .enum(['read', 'idempotent', 'keyed', 'once'])
      .default(undeclared.effect)
      .describe('read: no effect · idempotent: twice is once · keyed: the server dedupes on our key · once: all else.'),
    risk: z
      .enum(['low', 'medium', 'high'])
      .default(undeclared.risk)
      .describe('Shown to approvers; rules can match it.'),
    scopes: z.array(scopeSchema).max(32).default([]).describe('What the call touches, drawn from its arguments.'),
    repeat: z
      .enum(['ask', 'allow'])
      .default(undeclared.repeat)
      .describe('What holds for the identical call within the repeat window.'),
    cancel: z
      .literal('clean')
      .exactOptional()
      .describe('clean: a cancel of the caller is passed on. Left out: only calls of `effect: read` are cancelled.'),
    softDeadlineMs: milliseconds('When the caller is answered even if the server has not.').prefault(
      undeclared.softDeadlineMs,
    ),
    hardDeadlineMs: milliseconds('How long a late answer is still listened for.').prefault(undeclared.hardDeadlineMs),
    definiteFailure: z
      .array(conditionSchema)
      .min(1)
      .exactOptional()
      .describe('Answers with isError on which all these hold had no effect, so that the call may be repeated.'),
    trustRefusals: z
      .boolean()
      .default(undeclared.trustRefusals)
      .describe('The server refuses truly before it acts: 401, 404, -32601 and their like mean “no effect”.'),
    upstreamKey: upstreamKeySchema.exactOptional(),
    receipt: receiptSchema.exactOptional(),
    reconcile: z
      .union([readBackSchema, z.array(adapterSchema).min(1).max(8)])
      .exactOptional()
      .describe('Finds out what became of a call that nobody answered: one read-back, or several ways in their order.'),
    compensate: z
      .strictObject({
        tool: serverTool('SERVER/TOOL of what undoes the call; its profile has a `verify`.'),
        arguments: json.describe('Its arguments; { $argument: /pointer } and { $operation: receipt } are filled in.'),
      })
      .exactOptional()
      .describe('The call that undoes this one.'),
    verify: readBackSchema.exactOptional().describe('Shows whether the call did what it was to do.'),
    contentTypes: z
      .array(z.enum(['text', 'image', 'audio', 'resource', 'resource_link']))
      .min(1)
      .exactOptional()
      .describe('The only types of content that its results may hold. Left out: any.'),
    maxResultBytes: size('Results above this are kept aside and paged.').exactOptional(),
    secrets: z
      .enum(['keep', 'mask', 'refuse'])
      .default(undeclared.secrets)
      .describe('What happens to secrets in results.'),
    results: z
      .literal('trusted')
      .exactOptional()
      .describe(
        'trusted: nobody but your own people writes what its results hold. Left out: a later call that uses a URL, host or address of theirs is `tainted`.',
      ),
    examples: z
      .array(z.string().min(1).max(300))
      .max(20)
      .exactOptional()
      .describe('Requests that this tool answers, in the words of people. Search finds it by them too.'),
  })
  .refine((it) => it.softDeadlineMs <= it.hardDeadlineMs, {
    path: ['hardDeadlineMs'],
    error: 'expected at least softDeadlineMs',
  })
  .describe('What you declare of one tool. A tool without a profile is `once`, of high risk, and asks every time.')
