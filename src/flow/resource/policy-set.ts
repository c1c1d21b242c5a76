import {
  type CheckParseAnswer,
  type DetailedError,
  checkParsePolicySet,
  policySetTextToParts,
  policyToJson,
  preparsePolicySet,
  preparseSchema,
  validate,
} from '@cedar-policy/cedar-wasm/nodejs'
import { type Digest, digest } from '../../words/digest.ts'
import { cedarSchema } from './cedar-schema.ts'

/** One policy file. `file` is the name that messages use; order does not matter. */
export interface PolicyText {
  readonly file: string
  readonly text: string
}

export type Checked =
  | { readonly ok: true; readonly version: Digest; readonly policies: number; readonly warnings: readonly string[] }
  | { readonly ok: false; readonly messages: readonly string[] }

export type Loaded = Checked & { readonly version: Digest }

/** The name under which Cedar keeps the parsed schema. */
export const SCHEMA = 'countersign'

interface Policy {
  readonly id: string
  readonly file: string
  readonly text: string
  /** The whole file, and where in it the policy begins; the line of a message is counted from there. */
  readonly source: string
  readonly from: number
}

/**
 * Reads and validates policies against the schema. One fault anywhere and none of them counts: half of the files may lack
 * the `forbid` that the other half relies on. Templates are faults, since nothing would link them. Never throws.
 */
export function checkPolicies(texts: readonly PolicyText[]): Checked {
  return attempt(texts, () => examine(texts).checked)
}

/**
 * Hands checked policies to Cedar under their version as the name. Cedar keeps what it was given for the life of the
 * process, one small set for each version that was ever loaded; a set under a digest can never be another one's.
 */
export function loadPolicies(texts: readonly PolicyText[]): Loaded {
  return attempt(texts, () => {
    const { policies, checked } = examine(texts)
    if (!checked.ok) return checked
    const set = preparsePolicySet(checked.version, { staticPolicies: byId(policies) })
    schema ??= preparseSchema(SCHEMA, cedarSchema)
    const faults = [set, schema].flatMap((answer) => (answer.type === 'failure' ? answer.errors : []))
    return faults.length > 0 ? { ok: false, messages: faults.map((fault) => fault.message) } : checked
  })
}

let schema: CheckParseAnswer | undefined

function attempt(texts: readonly PolicyText[], load: () => Checked): Loaded {
  const version = versionOf(texts)
  try {
    return { ...load(), version }
  } catch (fault) {
    // A fault of the binding itself: without an answer of Cedar there are no policies.
    return { ok: false, messages: [String(fault)], version }
  }
}

function examine(texts: readonly PolicyText[]): { policies: readonly Policy[]; checked: Checked } {
  const { policies, messages } = readPolicies(texts)
  if (messages.length > 0) return { policies, checked: { ok: false, messages } }
  const answer = validate({ schema: cedarSchema, policies: { staticPolicies: byId(policies) } })
  if (answer.type === 'failure') {
    return { policies, checked: { ok: false, messages: answer.errors.map((error) => error.message) } }
  }
  const say = ({ policyId, error }: { policyId: string; error: DetailedError }) =>
    message(
      error,
      policies.find(({ id }) => id === policyId),
    )
  if (answer.validationErrors.length > 0) {
    return { policies, checked: { ok: false, messages: answer.validationErrors.map(say).sort() } }
  }
  const warnings = answer.validationWarnings.map(say).sort()
  return { policies, checked: { ok: true, version: versionOf(texts), policies: policies.length, warnings } }
}

function versionOf(texts: readonly PolicyText[]): Digest {
  return digest(JSON.stringify(sorted(texts).map(({ file, text }) => [file, text])))
}

function sorted(texts: readonly PolicyText[]): readonly PolicyText[] {
  return [...texts].sort((a, b) => (a.file === b.file ? (a.text < b.text ? -1 : 1) : a.file < b.file ? -1 : 1))
}

function byId(policies: readonly Policy[]): Record<string, string> {
  return Object.fromEntries(policies.map(({ id, text }) => [id, text]))
}

function readPolicies(texts: readonly PolicyText[]): { policies: readonly Policy[]; messages: readonly string[] } {
  const policies: Policy[] = []
  const messages: string[] = []
  for (const source of sorted(texts)) {
    if (!source.text.isWellFormed()) {
      messages.push(`${source.file}: not well-formed Unicode`)
      continue
    }
    const parts = policySetTextToParts(source.text)
    if (parts.type === 'failure') {
      // This call tells where the fault is, the other one does not.
      const parsed = checkParsePolicySet({ staticPolicies: source.text })
      const errors = parsed.type === 'failure' ? parsed.errors : parts.errors
      messages.push(...errors.map((error) => message(error, { file: source.file, source: source.text, from: 0 })))
      continue
    }
    if (parts.policy_templates.length > 0) messages.push(`${source.file}: a template, which nothing would link`)
    for (const policy of inOrder(parts.policies, source)) {
      const twin = policies.find(({ id }) => id === policy.id)
      if (twin !== undefined)
        messages.push(`${policy.file}: the id "${policy.id}" is taken by a policy of ${twin.file}`)
      policies.push(policy)
    }
  }
  return { policies, messages }
}

/** Cedar names the policies of a text policy0, policy1, … and hands them out in the alphabetical order of these names. */
function inOrder(parts: readonly string[], source: PolicyText): readonly Policy[] {
  const numbers = parts.map((_, n) => `policy${n}`).sort()
  const texts = parts
    .map((text, n) => ({ text, place: Number(numbers[n]!.slice('policy'.length)) }))
    .sort((a, b) => a.place - b.place)
  let after = 0
  return texts.map(({ text }, n) => {
    const from = Math.max(source.text.indexOf(text, after), after)
    const sameLine = n > 0 && !source.text.slice(after, from).includes('\n')
    after = from + text.length
    const place = `${source.file}:${lineOf(source.text, from)}${sameLine ? `#${n + 1}` : ''}`
    return { id: idOf(text) || place, file: source.file, text, source: source.text, from }
  })
}

function idOf(policy: string): string {
  const answer = policyToJson(policy)
  const annotations = answer.type === 'success' ? (answer.json.annotations ?? {}) : {}
  return Object.hasOwn(annotations, 'id') ? annotations['id']! : ''
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length
}

function message(error: DetailedError, place: Pick<Policy, 'file' | 'source' | 'from'> | undefined): string {
  const help = error.help === null ? '' : ` (${error.help})`
  if (place === undefined) return `${error.message}${help}`
  // Cedar counts bytes.
  const bytes = error.sourceLocations?.[0]?.start ?? 0
  const before = Buffer.from(place.source.slice(place.from)).subarray(0, bytes).toString()
  return `${place.file}:${lineOf(place.source, place.from) + lineOf(before, before.length) - 1}: ${error.message}${help}`
}
