import type { Step } from '../../flow/line.ts'
import { order } from '../../flow/order.ts'
import { isJsonObject, type Json, textMember } from '../../words/json.ts'
import { refusals } from '../../words/refusals.ts'
import type { Io } from '../io.ts'
import { fit, padEnd, plain } from './width.ts'

const marks = { pass: ['green', '✓'], ask: ['yellow', '?'], refuse: ['red', '✗'] } as const
const nameWidth = Math.max(...order.map((it) => it.length))
const verdictWidth = 'refuse'.length

/** One line per gate: its mark, its name, what it said, and why or what it bound. A refusal is followed by what to do next. */
export function stepLines(steps: readonly Step[], io: Pick<Io, 'columns' | 'paint'>): string[] {
  return steps.flatMap((step) => {
    const [color, mark] = marks[step.verdict]
    const reason = [step.code, factsText(step.facts)].filter((it) => it !== undefined && it !== '').join(' ')
    const room = Math.max(20, Math.min(io.columns - 2, 200) - nameWidth - verdictWidth - 6)
    const line =
      `${io.paint(color, mark)} ${padEnd(step.step, nameWidth)}  ${padEnd(step.verdict, verdictWidth)}  ${fit(reason, room)}`.trimEnd()
    if (step.code === undefined) return [line]
    const { say, next } = refusals[step.code]
    const indent = ' '.repeat(nameWidth + verdictWidth + 6)
    return [line, io.paint('dim', `${indent}${say}`), io.paint('dim', `${indent}→ ${nextText(next, step.facts)}`)]
  })
}

/** What to do next, with the id of the question where the facts have one. */
export function nextText(next: string, facts: { readonly [name: string]: Json }): string {
  const id = textMember(facts, 'approval')
  return id === undefined ? next : next.replace(/\bID\b/, () => plain(id))
}

/** Facts in short, `name=value`; anything with a space in it in quotes. */
export function factsText(facts: { readonly [name: string]: Json }): string {
  return Object.entries(facts)
    .map(([name, value]) => `${plain(name)}=${valueText(value)}`)
    .join(' ')
}

function valueText(value: Json): string {
  if (Array.isArray(value))
    return `[${(value as readonly Json[]).map((it) => scopeText(it) ?? valueText(it)).join(', ')}]`
  if (typeof value !== 'string') return plain(JSON.stringify(value))
  if (/^[0-9a-f]{64}$/.test(value)) return value.slice(0, 12)
  const text = plain(value)
  return /^[^\s"=]+$/.test(text) ? text : JSON.stringify(text)
}

/** A scope reads `write path /srv/a`; undefined for anything else. */
function scopeText(value: Json): string | undefined {
  if (!isJsonObject(value)) return undefined
  const [access, kind, what] = [textMember(value, 'access'), textMember(value, 'kind'), textMember(value, 'value')]
  return access === undefined || kind === undefined || what === undefined
    ? undefined
    : `${access} ${kind} ${plain(what)}`
}
