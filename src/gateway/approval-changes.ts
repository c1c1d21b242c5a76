import type { ApprovalView } from '../api/contract.ts'
import type { Approval } from '../flow/consent/consented.ts'
import type { Desk } from '../flow/consent/desk.ts'
import type { Ledger } from '../flow/side-effect/ledger.ts'
import { approvalView } from './control/views.ts'

const MOST_WAITING = 1000

/** Every waiting question, then every new one and every answer, until the signal aborts. The oldest are lost to a slow reader. */
export async function* approvalChanges(
  desk: Desk,
  ledger: Pick<Ledger, 'approvals' | 'approvalArguments'>,
  channel: 'terminal' | 'cli',
  signal: AbortSignal,
): AsyncGenerator<ApprovalView> {
  const queue: Approval[] = []
  let wake: () => void = () => {}
  const take = (approval: Approval): void => {
    if (queue.length >= MOST_WAITING) queue.shift()
    queue.push(approval)
    wake()
  }
  const detach = desk.attach(channel, take)
  const stop = (): void => wake()
  signal.addEventListener('abort', stop)
  try {
    queue.push(...ledger.approvals({ states: ['waiting'], limit: MOST_WAITING }).toReversed())
    for (;;) {
      for (let next = queue.shift(); next !== undefined; next = queue.shift())
        yield approvalView(next, ledger.approvalArguments(next.id) ?? '')
      if (signal.aborted) return
      await new Promise<void>((resolve) => {
        wake = resolve
        if (queue.length > 0 || signal.aborted) resolve()
      })
    }
  } finally {
    signal.removeEventListener('abort', stop)
    detach()
  }
}
