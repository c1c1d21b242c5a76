import {
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
  const { policies, messages } = readPolicies(texts)
  if (messages.length > 0) return { ok: false, messages }
  const answer = validate({ schema: cedarSchema, policies: { staticPolicies: byId(policies) } })
  if (answer.type === 'failure') return { ok: false, messages: answer.errors.map((error) => error.message) }
  const say = (found: { policyId: string; error: DetailedError }) =>
    message(
      found.error,
      policies.find(({ id }) => id === found.policyId),
    )
  if (answer.validationErrors.length > 0) return { ok: false, messages: answer.validationErrors.map(say).sort() }
  const warnings = answer.validationWarnings.map(say).sort()
  return { ok: true, version: versionOf(texts), policies: policies.length, warnings }
}

/**
 * Hands checked policies to Cedar under their version as the name. Cedar keeps what it was given for the life of the
 * process, one small set for each version that was ever loaded; a set under a digest can never be another one's.
 */
export function loadPolicies(texts: readonly PolicyText[]): Loaded {
  const version = versionOf(texts)
  const checked = checkPolicies(texts)
  if (!checked.ok) return { ...checked, version }
  const answers = [
    preparseSchema(SCHEMA, cedarSchema),
    preparsePolicySet(version, { staticPolicies: byId(readPolicies(texts).policies) }),
  ]
  const messages = answers.flatMap((answer) =>
    answer.type === 'failure' ? answer.errors.map((error) => error.message) : [],
  )
  return messages.length > 0 ? { ok: false, messages, version } : { ...checked, version }
}

function versionOf(texts: readonly PolicyText[]): Digest {
  return digest(JSON.stringify(sorted(texts).map(({ file, text }) => [file, text])))
}

function sorted(texts: readonly PolicyText[]): readonly PolicyText[] {
  return [...texts].sort((a, b) => (a.file < b.file ? -1 : 1))
}

function byId(policies: readonly Policy[]): Record<string, string> {
  return Object.fromEntries(policies.map(({ id, text }) => [id, text]))
}

function readPolicies(texts: readonly PolicyText[]): { policies: readonly Policy[]; messages: readonly string[] } {
  const policies: Policy[] = []
  const messages: string[] = []
  for (const source of sorted(texts)) {
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
  return texts.map(({ text }) => {
    const from = Math.max(source.text.indexOf(text, after), after)
    after = from + text.length
    return {
      id: idOf(text) ?? `${source.file}:${lineOf(source.text, from)}`,
      file: source.file,
      text,
      source: source.text,
      from,
    }
  })
}

function idOf(policy: string): string | undefined {
  const answer = policyToJson(policy)
  if (answer.type === 'failure') return undefined
  const annotations = answer.json.annotations ?? {}
  return Object.hasOwn(annotations, 'id') ? annotations['id'] : undefined
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
