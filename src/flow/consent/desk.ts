import { refuse, type Refusal } from '../../words/verdict.ts'
import type { Approval, Channel } from './consented.ts'

/** The part of the ledger that the desk needs. */
export interface DeskLedger {
  decide(
    approval: string,
    decision: { readonly by: string; readonly channel: Channel; readonly granted: boolean; readonly why: string },
    now: number,
  ): Promise<Approval | Refusal>
  revoke(
    approval: string,
    revocation: { readonly by: string; readonly why: string },
    now: number,
  ): Promise<Approval | Refusal>
  approval(id: string): Approval | undefined
}

export interface Decision {
  readonly by: string
  readonly channel: Channel
  readonly granted: boolean
  readonly why: string
}

/**
 * Where questions lie until somebody answers, and where those who wait are told. The questions themselves are in the
 * ledger; what is here is only who is listening, and is lost without harm.
 */
export class Desk {
  readonly #ledger: DeskLedger
  readonly #now: () => number
  readonly #waiting = new Map<string, Set<(approval: Approval) => void>>()
  readonly #asked = new Set<(approval: Approval) => void>()
  readonly #attached = new Map<Channel, number>()

  constructor(ledger: DeskLedger, now: () => number = Date.now) {
    this.#ledger = ledger
    this.#now = now
  }

  /** A terminal or a console that can put a question to a person right now. It hears of questions and of answers. */
  attach(channel: Channel, listener: (approval: Approval) => void): () => void {
    this.#attached.set(channel, (this.#attached.get(channel) ?? 0) + 1)
    this.#asked.add(listener)
    return () => {
      if (!this.#asked.delete(listener)) return
      this.#attached.set(channel, (this.#attached.get(channel) ?? 1) - 1)
    }
  }

  /** Could anybody answer by that channel? The command line always can: whoever owns the home may run it. */
  reachable(channel: Channel): boolean {
    return channel === 'cli' || (this.#attached.get(channel) ?? 0) > 0
  }

  /** Tells whoever is attached of a question, or of its answer. */
  announce(approval: Approval): void {
    for (const listener of this.#asked) listener(approval)
  }

  /** Records an answer, if the one who gives it may give it, and wakes whoever waits for it. */
  async answer(id: string, decision: Decision): Promise<Approval | Refusal> {
    const approval = this.#ledger.approval(id)
    if (approval === undefined) return refuse('TOOL_UNKNOWN', { approval: id })
    const { rule, binding } = approval.question
    if (!rule.channels.includes(decision.channel))
      return refuse('CONSENT_RULE_DENIES', { rule: rule.name, channel: decision.channel, allowed: [...rule.channels] })
    if (decision.granted) {
      if (decision.by === binding.principal && !rule.selfApproval)
        return refuse('CONSENT_RULE_DENIES', {
          rule: rule.name,
          by: decision.by,
          why: 'nobody says yes to their own call here',
        })
      if (rule.approvers !== undefined && !rule.approvers.includes(decision.by))
        return refuse('CONSENT_RULE_DENIES', { rule: rule.name, by: decision.by, approvers: [...rule.approvers] })
    }
    const decided = await this.#ledger.decide(id, decision, this.#now())
    if ('state' in decided) {
      for (const wake of this.#waiting.get(id) ?? []) wake(decided)
      this.announce(decided)
    }
    return decided
  }

  /** Takes back a question or an unused yes; whoever waits for it hears that it stands no more. */
  async revoke(id: string, by: string, why: string): Promise<Approval | Refusal> {
    const revoked = await this.#ledger.revoke(id, { by, why }, this.#now())
    if ('state' in revoked) {
      for (const wake of this.#waiting.get(id) ?? []) wake(revoked)
      this.announce(revoked)
    }
    return revoked
  }

  /** Resolves with the answer, or undefined when `ms` have passed or the signal aborts first. */
  wait(id: string, ms: number, signal: AbortSignal): Promise<Approval | undefined> {
    return new Promise((resolve) => {
      const listeners = this.#waiting.get(id) ?? new Set()
      this.#waiting.set(id, listeners)
      const end = (approval: Approval | undefined): void => {
        clearTimeout(timer)
        signal.removeEventListener('abort', leave)
        listeners.delete(end)
        if (listeners.size === 0) this.#waiting.delete(id)
        resolve(approval)
      }
      const leave = (): void => end(undefined)
      const timer = setTimeout(leave, ms)
      listeners.add(end)
      if (signal.aborted) leave()
      else signal.addEventListener('abort', leave, { once: true })
      const already = this.#ledger.approval(id)
      if (already !== undefined && already.state !== 'waiting') end(already)
    })
  }
}
