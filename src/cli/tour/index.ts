import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Answer } from '../../flow/answer.ts'
import type { Approval } from '../../flow/consent/consented.ts'
import type { RunningGateway } from '../../gateway/build.ts'
import { localUser } from '../../gateway/principals.ts'
import { coreToolbox } from '../../gateway/toolbox.ts'
import { runTask } from '../../model/loop.ts'
import { parseScript } from '../../model/script-file.ts'
import { scriptedModel } from '../../model/scripted.ts'
import type { Io } from '../io.ts'
import { stepLines } from '../render/steps.ts'
import { recordLines } from './record.ts'
import { untilReconciled } from './reconciled.ts'

const READY_WITHIN_MS = 30_000
/** How long a call of the tour waits for a yes where nobody is at the terminal to give it. */
const ALONE_WAIT_MS = 2_000

/**
 * Plays the script `tour.yaml` beside the configuration through the host loop, and shows what each gate said. Answers
 * whether everything ended as the tour says; a tour that cannot be played says why.
 */
export async function playTour(gateway: RunningGateway, io: Io, folder: string, signal: AbortSignal): Promise<boolean> {
  const file = join(folder, 'tour.yaml')
  const run = new Date().toISOString()
  const script = existsSync(file)
    ? parseScript(readFileSync(file, 'utf8').replaceAll('{{run}}', run), file)
    : { error: `there is no ${file}` }
  if ('error' in script) {
    io.err(`The tour cannot be played: ${script.error}`)
    return false
  }
  const { core } = gateway
  io.out(io.paint('bold', 'A tour: four proposals, seven gates, five real MCP servers'))
  io.out('The model is scripted: its turns are read from tour.yaml. Everything behind it is real.')
  // Without `ref`: the one that loses this race must not keep a process alive that is told to end.
  const late = pause(READY_WITHIN_MS, undefined, { signal, ref: false }).catch(() => {})
  await Promise.race([core.settled, late])
  const offers = await gateway.control.offers()
  const detach = io.interactive ? attachTerminal(gateway, io, signal) : undefined
  const answers: Answer[] = []
  const toolbox = coreToolbox(core, () => offers, {
    principal: localUser.id,
    // Where nobody sits there is no use in waiting long for a yes that cannot come.
    caller: io.interactive ? {} : { consentWaitMs: ALONE_WAIT_MS },
    onAnswer: (answer) => {
      answers.push(answer)
      for (const line of stepLines(answer.steps, io)) io.out(`  ${line}`)
      io.out(`  ${io.paint('bold', endOf(answer, io))}`)
      if (answers.length === 1 && 'operation' in answer && answer.operation !== undefined) {
        io.out('')
        for (const line of recordLines(core.open, answer.operation)) io.out(`    ${line}`)
      }
    },
  })
  const report = await runTask({
    task: 'Show what Countersign does with four proposals.',
    model: scriptedModel(script, 'scripted:tour.yaml'),
    toolbox,
    signal,
    observer: (event) => {
      if (event.kind === 'text') io.out(`\n${io.paint('cyan', `scripted model: ${event.text}`)}`)
      if (event.kind === 'proposal') io.out(`  proposes ${event.exported} ${event.argumentsText}`)
    },
  })
  detach?.()
  const lost = answers.find((answer) => answer.kind === 'unknown')
  const found = lost === undefined ? undefined : await untilReconciled(core, lost.operation, io, signal)
  io.out('')
  io.out(io.paint('dim', `The whole record: countersign evidence show; check it: countersign evidence verify`))
  return report.stop === 'done' && answers.length === 4 && found !== undefined
}

function endOf(answer: Answer, io: Io): string {
  switch (answer.kind) {
    case 'answered':
      return `→ ${answer.state}, acceptance ${answer.acceptance}: ${firstText(answer.accepted.value)}`
    case 'refused':
      return answer.code === 'APPROVAL_WAITING' && !io.interactive
        ? '→ refused: a yes is needed, and nobody is at this terminal to give it'
        : `→ refused: ${answer.code}`
    case 'unknown':
      return `→ unknown: ${answer.why}. It is not sent again.`
    case 'upstream-error':
      return `→ the upstream answered with an error: ${answer.error.message}`
    case 'asked':
      return `→ asked: ${answer.approval.id}`
    default:
      return answer satisfies never
  }
}

function firstText(value: object): string {
  const content = 'content' in value && Array.isArray(value.content) ? (value.content as { text?: unknown }[]) : []
  const text = content.map((block) => block.text).find((found) => typeof found === 'string')
  const line = typeof text === 'string' ? text.split('\n', 1)[0]! : '(no text)'
  return line.length > 100 ? `${line.slice(0, 100)}…` : line
}

/** Questions of the tour are put to the person at this terminal, who answers with the whole word. */
function attachTerminal(gateway: RunningGateway, io: Io, signal: AbortSignal): () => void {
  const { desk } = gateway.core
  const answer = async (approval: Approval): Promise<void> => {
    if (approval.state !== 'waiting') return
    io.out('')
    for (const line of approval.question.text.split('\n')) io.out(`    ${line}`)
    const said = await io.ask('    Type yes to approve, anything else to deny: ', signal)
    const granted = said?.trim().toLowerCase() === 'yes'
    await desk.answer(approval.id, {
      by: localUser.id,
      channel: 'terminal',
      granted,
      why: granted ? '' : 'said in the tour',
    })
  }
  return desk.attach('terminal', (approval) => {
    answer(approval).catch((fault: unknown) => io.err(String(fault)))
  })
}
