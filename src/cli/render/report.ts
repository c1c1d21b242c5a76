import type { CallReport } from '../../api/contract.ts'
import { visible } from '../../flow/tool/visible.ts'
import { isJsonObject, member, type JsonObject, textMember } from '../../words/json.ts'
import type { Io } from '../io.ts'
import { stepLines } from './steps.ts'

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
      if (!report.steps.some(({ code }) => code === report.code))
        io.out(`${report.code}: ${report.say}\n→ ${report.next}`)
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
