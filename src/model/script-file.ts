import { readFileSync, statSync } from 'node:fs'
import { LineCounter, type Node as YamlNode, isNode, parseDocument } from 'yaml'
import { z } from 'zod'
import type { Json } from '../words/json.ts'

const json: z.ZodType<Json> = z.json()

const call = z
  .strictObject({
    /** The name under which the tool is offered, `server__tool`. */
    tool: z.string().min(1).max(256),
    arguments: z.record(z.string(), json).optional(),
    /** The text that a model would send, for texts that are no JSON object. */
    argumentsText: z.string().optional(),
    id: z.string().optional(),
  })
  .refine((one) => one.arguments === undefined || one.argumentsText === undefined, {
    message: 'give arguments or argumentsText, not both',
  })

const turn = z
  .strictObject({
    say: z.string().optional(),
    call: call.optional(),
    calls: z.array(call).min(1).max(32).optional(),
    /** The turn is passed over unless this holds of the last results. */
    when: z.strictObject({ error: z.boolean().optional(), contains: z.string().min(1).optional() }).optional(),
    finish: z.enum(['stop', 'length', 'content-filter', 'tool-calls', 'error', 'other']).optional(),
  })
  .refine((one) => one.call === undefined || one.calls === undefined, { message: 'give call or calls, not both' })
  .refine((one) => one.say !== undefined || one.call !== undefined || one.calls !== undefined, {
    message: 'a turn says something or calls something',
  })

const turns = z.array(turn).min(1).max(1000)
const file = z.union([turns, z.strictObject({ turns }).transform((whole) => whole.turns)])

export type ScriptedTurn = z.infer<typeof turn>

export interface Script {
  readonly turns: readonly ScriptedTurn[]
}

const MAX_BYTES = 1024 * 1024

/** Reads a script from a file. Every error begins with `FILE:LINE:COLUMN` where it has a place. */
export function readScript(path: string): Script | { readonly error: string } {
  let text: string
  try {
    const { size } = statSync(path)
    if (size > MAX_BYTES) return { error: `${path}: larger than ${MAX_BYTES} bytes` }
    text = readFileSync(path, 'utf8')
  } catch (fault) {
    return {
      error: `${path}: cannot be read (${fault instanceof Error && 'code' in fault ? String(fault.code) : 'fault'})`,
    }
  }
  return parseScript(text, path)
}

/** Reads a script: YAML, of which JSON is a part. `name` stands before line and column in errors. */
export function parseScript(text: string, name: string): Script | { readonly error: string } {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true })
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const wrong = document.errors[0]
  if (wrong !== undefined) return { error: `${place(wrong.pos[0])}: ${wrong.message}` }
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: 100 })
  } catch (fault) {
    return { error: `${name}:1:1: ${fault instanceof Error ? fault.message : 'cannot be read'}` }
  }
  // The two forms are told apart here: a union would only say that neither fits.
  const parsed = Array.isArray(value) ? turns.safeParse(value) : file.safeParse(value)
  if (parsed.success) return { turns: parsed.data }
  const issue = deepest(parsed.error.issues)
  const path = issue.path.map(String)
  for (let depth = path.length; depth >= 0; depth--) {
    const node: unknown = depth === 0 ? document.contents : document.getIn(issue.path.slice(0, depth), true)
    if (isNode(node)) {
      const at = path.length === 0 ? '' : `${path.join('.')}: `
      return { error: `${place(startOf(node))}: ${at}${issue.message}` }
    }
  }
  return { error: `${name}:1:1: ${issue.message}` }
}

function startOf(node: YamlNode): number {
  return node.range?.[0] ?? 0
}

// Of the two forms of a file, the one that got further is the one that was meant.
function deepest(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue {
  const flat = issues.flatMap((issue) => (issue.code === 'invalid_union' ? [issue, ...issue.errors.flat()] : [issue]))
  return flat.reduce((best, issue) => (issue.path.length > best.path.length ? issue : best))
}
