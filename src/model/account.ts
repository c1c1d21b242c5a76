import type { Heard } from './hearing.ts'
import type { ModelPort } from './port.ts'
import type { Projection } from './projection/offers.ts'
import type { CallRecord, Observer, RunLimits, RunReport, StopReason, Usage } from './report.ts'

const MAX_WARNINGS = 200

/** What a task has used and done so far; at its end, the report. */
export class Account {
  readonly #about: Pick<RunReport, 'conversation' | 'model' | 'scripted' | 'setAside'>
  readonly #observe: Observer
  readonly #calls: CallRecord[] = []
  readonly #warnings: string[] = []
  #turns = 0
  #usage: Usage = { inputTokens: 0, outputTokens: 0, estimated: false, method: 'usage' }
  #finish: Heard['finish'] | undefined
  #text = ''

  constructor(conversation: string, model: ModelPort, projection: Projection, observe: Observer) {
    const setAside = [...projection.quarantined, ...projection.omitted]
    this.#about = { conversation, model: model.label, scripted: model.scripted, setAside }
    this.#observe = observe
    observe({ kind: 'offers', offered: projection.tools.length, setAside })
    for (const { exported, message } of projection.warnings) this.warn(`${exported}: ${message}`)
  }

  get turns(): number {
    return this.#turns
  }

  beginTurn(): void {
    this.#turns++
    this.#observe({ kind: 'turn', turn: this.#turns })
  }

  addTurn({ said, finish, usage, warnings }: Heard): void {
    this.#finish = finish
    this.#text = said.map((part) => (part.kind === 'text' ? part.text : '')).join('')
    this.#usage = {
      inputTokens: this.#usage.inputTokens + usage.inputTokens,
      outputTokens: this.#usage.outputTokens + usage.outputTokens,
      estimated: this.#usage.estimated || usage.estimated,
      method: usage.estimated ? usage.method : this.#usage.method,
    }
    for (const message of warnings) this.warn(message)
  }

  addCall(record: CallRecord): void {
    this.#calls.push(record)
    this.#observe({ kind: 'call', record })
  }

  warn(message: string): void {
    if (this.#warnings.length >= MAX_WARNINGS) return
    this.#warnings.push(message)
    this.#observe({ kind: 'warning', message })
  }

  /** The limit that forbids to act on the turn that was just heard. */
  limitReached(limits: RunLimits): 'tokens' | 'turns' | 'calls' | undefined {
    if (this.#usage.inputTokens + this.#usage.outputTokens >= limits.tokens) return 'tokens'
    // The results would come after the last turn.
    if (this.#turns >= limits.turns) return 'turns'
    return this.#calls.filter(({ verdict }) => verdict !== 'not-run').length >= limits.calls ? 'calls' : undefined
  }

  report(stop: StopReason, why?: string): RunReport {
    const report: RunReport = {
      ...this.#about,
      turns: this.#turns,
      calls: this.#calls,
      usage: this.#usage,
      stop,
      ...(why === undefined ? {} : { why }),
      ...(this.#finish === undefined ? {} : { finish: this.#finish }),
      text: this.#text,
      warnings: this.#warnings,
    }
    this.#observe({ kind: 'stopped', report })
    return report
  }
}
