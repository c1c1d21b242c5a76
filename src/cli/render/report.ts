import type { CallReport } from '../../api/contract.ts'
import { visible } from '../../flow/tool/visible.ts'
import { isJsonObject, member, type JsonObject, textMember } from '../../words/json.ts'
import type { Io } from '../io.ts'
import { nextText, stepLines } from './steps.ts'
import { plain } from './width.ts'

/** What became of a call, for a person: the result on stdout, or the gates up to the one that said no. */
export function printReport(report: CallReport, io: Io, showSteps: boolean): void {
  const print = io.columns === Infinity ? (text: string) => text : visible
  switch (report.kind) {
    case 'answered':
      if (showSteps) for (const line of stepLines(report.steps, io)) io.note(line)
      for (const part of contentLines(report.result)) io.out(print(part))
      io.note(summary(report, io))
      return
    case 'upstream-error':
      for (const line of stepLines(report.steps, io)) io.out(line)
      io.out(`The server answered with the error ${report.error.code}: ${visible(report.error.message)}`)
      io.note(`operation ${report.operation}: ${report.state}`)
      return
    case 'refused':
      for (const line of stepLines(report.steps, io)) io.out(line)
      for (const line of refusalLines(report)) io.out(line)
      return
    case 'unknown':
      for (const line of stepLines(report.steps, io)) io.out(line)
      io.out(io.paint('yellow', `Nobody knows what became of it: ${visible(report.why)}.`))
      io.out(
        `It is not sent again. See \`countersign operation show ${report.operation}\`, then reconcile or decide it.`,
      )
      return
    default:
      report satisfies never
  }
}

/** What the gates have not said yet: the refusal itself, the one who said no, the question that has to be answered. */
function refusalLines({ code, say, next, facts, approval, steps }: Extract<CallReport, { kind: 'refused' }>): string[] {
  const lines = steps.some((step) => step.code === code)
    ? []
    : [`${code}: ${say}`, `→ ${nextText(next, approval === undefined ? facts : { ...facts, approval })}`]
  if (code !== 'APPROVAL_DENIED') return lines
  const told = { ...steps.findLast((step) => step.code === code)?.facts, ...facts }
  const [by, why] = [textMember(told, 'by'), textMember(told, 'why')]
  return by === undefined
    ? lines
    : [...lines, `Denied by ${plain(by)}${why ? `: ${plain(why)}` : ', without a reason'}.`]
}

function summary(
  { operation, state, acceptance, isError, remarks }: Extract<CallReport, { kind: 'answered' }>,
  io: Io,
): string {
  const parts = [
    `operation ${operation}: ${state}`,
    acceptance === 'not_required' ? '' : `acceptance ${acceptance}`,
    isError ? 'the tool itself answered with an error' : '',
    remarks.signs.length > 0 ? `signs of injection: ${remarks.signs.join(', ')}` : '',
    remarks.masked.length > 0
      ? `secrets masked: ${remarks.masked.map(({ rule, count }) => `${rule} ×${count}`).join(', ')}`
      : '',
    remarks.spilled === undefined ? '' : `only its beginning is here; the whole is ${remarks.spilled}`,
  ]
  return io.paint('dim', parts.filter((it) => it !== '').join('; '))
}

/** Text of a result's content blocks; what is no text is named by its kind and size. */
function contentLines(result: JsonObject): string[] {
  const content = member(result, 'content')
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : []
  if (blocks.length === 0) {
    const structured = member(result, 'structuredContent')
    return [JSON.stringify(structured ?? result, null, 2)]
  }
  return blocks.map((block) => {
    const text = textMember(block, 'text')
    if (text !== undefined) return text
    const kind = textMember(block, 'type') ?? 'unknown'
    const mime = textMember(block, 'mimeType')
    const uri = textMember(block, 'uri')
    return `[${[kind, mime, uri].filter((it) => it !== undefined).join(' ')}]`
  })
}
