import type { Json } from './json.ts'

export type CanonicalFaultCode = 'NOT_FINITE' | 'LONE_SURROGATE' | 'NOT_JSON' | 'TOO_DEEP'

/** The value has no canonical form. It is a fault and not a refusal: what came in from outside was checked before. */
export class CanonicalFault extends Error {
  readonly code: CanonicalFaultCode
  constructor(code: CanonicalFaultCode, message: string) {
    super(message)
    this.name = 'CanonicalFault'
    this.code = code
  }
}

/**
 * RFC 8785 text of a value: keys in the order of their UTF-16 code units, numbers as ECMAScript writes them, no spaces.
 * Equal values have equal texts, so that the text can be digested, compared and sent.
 *
 * @throws CanonicalFault for non-finite numbers, lone surrogates, anything that is not JSON, and beyond `depth`.
 */
export function canonical(value: Json, depth = 64): string {
  switch (typeof value) {
    case 'string':
      return text(value)
    case 'number':
      if (!Number.isFinite(value)) throw new CanonicalFault('NOT_FINITE', 'a number that is not finite')
      // ECMAScript's own form is the one that RFC 8785 §3.2.2.3 asks for, with 0 for −0.
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (depth <= 0) throw new CanonicalFault('TOO_DEEP', 'nested deeper than the limit')
      return Array.isArray(value)
        ? list(value as readonly Json[], depth)
        : members(value as { [key: string]: Json }, depth)
    default:
      throw new CanonicalFault('NOT_JSON', `a value of type ${typeof value}`)
  }
}

function list(items: readonly Json[], depth: number): string {
  let out = '['
  // By index: a hole must be met as undefined, not skipped.
  for (let n = 0; n < items.length; n++)
    out += n === 0 ? canonical(items[n]!, depth - 1) : `,${canonical(items[n]!, depth - 1)}`
  return `${out}]`
}

function members(object: { readonly [key: string]: Json }, depth: number): string {
  const keys = Object.keys(object)
  // The default order of `sort` is the one of UTF-16 code units (RFC 8785 §3.2.3).
  if (keys.length > 1) keys.sort()
  let out = '{'
  for (const key of keys) {
    if (out.length > 1) out += ','
    out += `${text(key)}:${canonical(object[key]!, depth - 1)}`
  }
  return `${out}}`
}

// Most strings need no escape, and then quoting is cheaper than JSON.stringify.
const PLAIN = /^[ !#-[\]-~]*$/

function text(value: string): string {
  if (value.length < 64 && PLAIN.test(value)) return `"${value}"`
  if (!value.isWellFormed()) throw new CanonicalFault('LONE_SURROGATE', 'a lone surrogate')
  return JSON.stringify(value)
}
