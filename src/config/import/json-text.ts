import { applyEdits, modify, type ParseError, parse, printParseErrorCode } from 'jsonc-parser'
import type { Json } from '../../words/json.ts'
import type { Edit } from './format.ts'

export function readJson(text: string, format: 'json' | 'jsonc'): Json {
  if (format === 'json') return JSON.parse(text) as Json
  const errors: ParseError[] = []
  const value = parse(text, errors, { allowTrailingComma: true }) as Json
  const first = errors[0]
  if (first === undefined) return value
  const line = text.slice(0, first.offset).split('\n').length
  throw new Error(`${printParseErrorCode(first.error)} in line ${line}`)
}

export function editJson(text: string, { root, remove, put }: Edit): string {
  const formattingOptions = formattingOf(text)
  if (text.trim() === '') return `${JSON.stringify({ [root]: put }, undefined, 2)}\n`
  let edited = text
  const change = (path: string[], value: unknown): void => {
    edited = applyEdits(edited, modify(edited, path, value, { formattingOptions }))
  }
  for (const name of remove) change([root, name], undefined)
  for (const [name, value] of Object.entries(put)) change([root, name], value)
  return edited
}

function formattingOf(text: string): { insertSpaces: boolean; tabSize: number; eol: string } {
  const indent = /^([ \t]+)\S/m.exec(text)?.[1] ?? '  '
  return { insertSpaces: !indent.startsWith('\t'), tabSize: indent.length, eol: text.includes('\r\n') ? '\r\n' : '\n' }
}
