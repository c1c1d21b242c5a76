import { canonical } from '../../../words/canonical.ts'
import { type Json, type JsonObject, isJsonObject, member } from '../../../words/json.ts'

/**
 * Of what kind a change of a definition is. A person who has to agree to it reads the kind first: four of five upgrades of
 * popular servers change some field, and hardly any of them changes what may happen.
 */
export const driftClasses = [
  /** `$schema`, or other words of JSON Schema that check nothing. */
  'dialect',
  /** Icons and `_meta`: what a client shows, or keeps for itself. */
  'presentation',
  /** Name of the tool. */
  'renamed',
  /** Texts that a model reads: title, description, descriptions of parameters, examples. */
  'reworded',
  /** Arguments that were taken are no longer taken. */
  'narrower',
  /** Arguments that were refused are now taken. */
  'wider',
  'new-required-parameter',
  /** A parameter that takes any text: where secrets leave, and orders arrive. */
  'new-free-text-parameter',
  /** A value that is used where the caller gives none. */
  'default-changed',
  /** A hint that says less of the danger than before, or a first one that says little. */
  'annotation-loosened',
  'annotation-tightened',
  /** What results look like. */
  'output-changed',
  /** Anything that is none of the above. */
  'other',
] as const
export type DriftClass = (typeof driftClasses)[number]

/** Kinds of a change, in the order of the list above. Empty where the canonical forms are equal. */
export function classifyDrift(before: JsonObject, after: JsonObject): readonly DriftClass[] {
  const found = new Set<DriftClass>()
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [member(before, key), member(after, key)]
    if (same(old, now)) continue
    if (key === 'name') found.add('renamed')
    else if (key === 'title' || key === 'description') found.add('reworded')
    else if (key === 'icons' || key === '_meta') found.add('presentation')
    else if (key === 'annotations') annotations(old, now, found)
    else if (key === 'inputSchema') schema(old, now, found, true)
    else if (key === 'outputSchema') output(old, now, found)
    else found.add('other')
  }
  return driftClasses.filter((one) => found.has(one))
}

// Words of JSON Schema that check nothing, by what they are for.
const DIALECT = new Set(['$schema', '$id', '$comment', '$vocabulary', '$anchor'])
const TEXTS = new Set(['title', 'description', 'examples', 'deprecated', 'readOnly', 'writeOnly'])
const DEPTH = 40

function schema(
  old: Json | undefined,
  now: Json | undefined,
  found: Set<DriftClass>,
  mayAdd: boolean,
  depth = DEPTH,
): void {
  if (same(old, now)) return
  if (depth === 0 || !isJsonObject(old) || !isJsonObject(now))
    return void found.add(now === undefined ? 'wider' : 'other')
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const [was, is] = [member(old, key), member(now, key)]
    if (same(was, is)) continue
    if (DIALECT.has(key)) found.add('dialect')
    else if (TEXTS.has(key)) found.add('reworded')
    else if (key === 'default') found.add('default-changed')
    else if (key === 'properties') properties(was, is, old, now, found, mayAdd, depth)
    else if (key === 'required') required(was, is, found)
    else if (key === 'items' || key === 'additionalProperties') openness(key, was, is, found, mayAdd, depth)
    else if (key === '$defs' || key === 'definitions') definitions(was, is, found, mayAdd, depth)
    else bound(key, was, is, found)
  }
}

function properties(
  was: Json | undefined,
  is: Json | undefined,
  old: JsonObject,
  now: JsonObject,
  found: Set<DriftClass>,
  mayAdd: boolean,
  depth: number,
): void {
  const before = isJsonObject(was) ? was : {}
  const after = isJsonObject(is) ? is : {}
  for (const [name, inner] of Object.entries(after)) {
    const known = member(before, name)
    if (known !== undefined) {
      schema(known, inner, found, mayAdd, depth - 1)
      continue
    }
    // Where other members were taken before, a declared one only narrows what it may be.
    found.add(member(old, 'additionalProperties') === false ? 'wider' : 'narrower')
    if (listed(member(now, 'required')).includes(name)) found.add('new-required-parameter')
    if (mayAdd && takesText(inner)) found.add('new-free-text-parameter')
  }
  for (const name of Object.keys(before)) {
    if (!Object.hasOwn(after, name)) found.add(member(now, 'additionalProperties') === false ? 'narrower' : 'wider')
  }
}

function required(was: Json | undefined, is: Json | undefined, found: Set<DriftClass>): void {
  const [before, after] = [listed(was), listed(is)]
  if (after.some((name) => !before.includes(name))) found.add('new-required-parameter').add('narrower')
  if (before.some((name) => !after.includes(name))) found.add('wider')
}

function openness(
  key: string,
  was: Json | undefined,
  is: Json | undefined,
  found: Set<DriftClass>,
  mayAdd: boolean,
  depth: number,
): void {
  if (isJsonObject(was) && isJsonObject(is)) return schema(was, is, found, mayAdd, depth - 1)
  const closed = (value: Json | undefined): boolean => value === false
  const open = (value: Json | undefined): boolean => value === undefined || value === true
  if (open(was) && open(is)) return void found.add('dialect')
  if (closed(is) || open(was)) found.add('narrower')
  else found.add('wider')
  if (key === 'additionalProperties' && mayAdd && closed(was)) found.add('new-free-text-parameter')
}

function definitions(
  was: Json | undefined,
  is: Json | undefined,
  found: Set<DriftClass>,
  mayAdd: boolean,
  depth: number,
): void {
  const before = isJsonObject(was) ? was : {}
  const after = isJsonObject(is) ? is : {}
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [member(before, name), member(after, name)]
    if (one !== undefined && other !== undefined) schema(one, other, found, mayAdd, depth - 1)
    else found.add('other')
  }
}

const LOWER = new Set(['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties', 'minContains'])
const UPPER = new Set(['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties', 'maxContains'])

function bound(key: string, was: Json | undefined, is: Json | undefined, found: Set<DriftClass>): void {
  if (LOWER.has(key) || UPPER.has(key)) {
    const sign = LOWER.has(key) ? 1 : -1
    const none = -Infinity
    const [before, after] = [was, is].map((value) => (typeof value === 'number' ? value * sign : none)) as [
      number,
      number,
    ]
    return void found.add(after > before ? 'narrower' : 'wider')
  }
  if (key === 'enum' || key === 'type') {
    const [before, after] = [values(was), values(is)]
    const more = before === undefined ? false : after === undefined || after.some((one) => !before.includes(one))
    const fewer = after === undefined ? false : before === undefined || before.some((one) => !after.includes(one))
    if (more) found.add('wider')
    if (fewer) found.add('narrower')
    return
  }
  if (key === 'const' || key === 'pattern' || key === 'format' || key === 'multipleOf' || key === 'uniqueItems') {
    found.add(is === undefined ? 'wider' : 'narrower')
    if (was !== undefined && is !== undefined) found.add('wider')
    return
  }
  found.add('other')
}

function output(old: Json | undefined, now: Json | undefined, found: Set<DriftClass>): void {
  const inside = new Set<DriftClass>()
  schema(old, now, inside, false)
  for (const one of inside) if (one === 'dialect' || one === 'reworded') found.add(one)
  if ([...inside].some((one) => one !== 'dialect' && one !== 'reworded')) found.add('output-changed')
}

/** How much a hint warns: `readOnlyHint: true` least. What is not said is what the protocol assumes: the worst. */
const WARNS: Readonly<Record<string, (value: Json | undefined) => number>> = {
  readOnlyHint: (value) => (value === true ? 0 : 1),
  destructiveHint: (value) => (value === false ? 0 : 1),
  idempotentHint: (value) => (value === true ? 0 : 1),
  openWorldHint: (value) => (value === false ? 0 : 1),
}

function annotations(old: Json | undefined, now: Json | undefined, found: Set<DriftClass>): void {
  const before = isJsonObject(old) ? old : {}
  const after = isJsonObject(now) ? now : {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [was, is] = [member(before, key), member(after, key)]
    if (same(was, is)) continue
    const warns = WARNS[key]
    if (warns === undefined) found.add(key === 'title' ? 'reworded' : 'other')
    else if (warns(is) < warns(was)) found.add('annotation-loosened')
    else found.add('annotation-tightened')
  }
}

function takesText(value: Json): boolean {
  if (!isJsonObject(value)) return value === true
  const types = values(member(value, 'type'))
  if (member(value, 'enum') !== undefined || member(value, 'const') !== undefined) return false
  return types === undefined || types.some((type) => type === '"string"' || type === '"object"' || type === '"array"')
}

function values(value: Json | undefined): string[] | undefined {
  if (value === undefined) return undefined
  return (Array.isArray(value) ? (value as readonly Json[]) : [value]).map((one) => canonical(one, 256))
}

function listed(value: Json | undefined): readonly string[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter((one) => typeof one === 'string') : []
}

function same(one: Json | undefined, other: Json | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return canonical(one, 256) === canonical(other, 256)
}
