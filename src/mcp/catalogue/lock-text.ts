import { hasHidden } from '../../flow/tool/visible.ts'
import { type Json, isJsonObject } from '../../words/json.ts'

const INDENT = '  '
/** Keys that every YAML reader takes for text as they stand. */
const PLAIN_KEY = /^[A-Za-z_][A-Za-z0-9_-]*$/
const RESERVED = /^(?:y|n|yes|no|on|off|true|false|null)$/i
const HIDDEN = /[^\u0020-\u007e]/gu

/**
 * JSON as YAML that a person can review: one line per member, keys in order, texts with several lines as blocks, and no
 * character that is not seen. Equal values have equal bytes, whatever release of a YAML library reads them.
 */
export function yamlOf(value: Json): string {
  return isJsonObject(value) && Object.keys(value).length > 0 ? `${members(value, '')}\n` : `${scalar(value)}\n`
}

function members(object: { readonly [key: string]: Json }, indent: string): string {
  return Object.keys(object)
    .sort()
    .map((key) => `${indent}${keyOf(key)}:${after(object[key]!, indent)}`)
    .join('\n')
}

/** What stands after a key: on the same line, or in lines of its own. */
function after(value: Json, indent: string): string {
  const inner = indent + INDENT
  if (typeof value === 'string' && isBlock(value)) return block(value, inner)
  if (isJsonObject(value) && Object.keys(value).length > 0) return `\n${members(value, inner)}`
  if (Array.isArray(value) && value.length > 0) {
    return `\n${(value as readonly Json[]).map((item) => `${inner}-${element(item, inner)}`).join('\n')}`
  }
  return ` ${scalar(value)}`
}

function element(value: Json, indent: string): string {
  if (typeof value === 'string') return ` ${scalar(value)}`
  // The first member stands on the line of the dash.
  if (isJsonObject(value) && Object.keys(value).length > 0) return ` ${members(value, indent + INDENT).trimStart()}`
  return after(value, indent)
}

function scalar(value: Json): string {
  if (typeof value !== 'string') return JSON.stringify(value)
  return JSON.stringify(value).replaceAll(HIDDEN, (character) =>
    hasHidden(character) ? escaped(character) : character,
  )
}

// YAML knows no surrogate pairs in escapes, but eight digits.
function escaped(character: string): string {
  const code = character.codePointAt(0)!.toString(16)
  return code.length <= 4 ? `\\u${code.padStart(4, '0')}` : `\\U${code.padStart(8, '0')}`
}

function keyOf(key: string): string {
  return PLAIN_KEY.test(key) && !RESERVED.test(key) ? key : scalar(key)
}

/** Texts that mean the same in a literal block: several lines, no blanks at their ends, nothing that is not seen. */
function isBlock(text: string): boolean {
  if (!text.includes('\n') || text.endsWith('\n\n') || /^\s|[^\S\n]\n|[^\S\n]$|\t/.test(text)) return false
  return !hasHidden(text)
}

function block(text: string, indent: string): string {
  const ends = text.endsWith('\n')
  const lines = (ends ? text.slice(0, -1) : text).split('\n')
  return ` ${ends ? '|' : '|-'}\n${lines.map((line) => (line === '' ? '' : indent + line)).join('\n')}`
}
