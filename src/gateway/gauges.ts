import type { Core } from './assemble.ts'

const MOST = 1_000

/** What stands now, asked for each time that the metrics are read. */
export function addGauges({ observatory, open, budgets, upstreams }: Core): void {
  const { metrics } = observatory
  metrics.gauge('countersign.waiting.approvals', 'Questions that wait for a person', () => [
    [{}, open.ledger.approvals({ states: ['waiting'], limit: MOST }).length],
  ])
  metrics.gauge('countersign.unknown.operations', 'Operations of which nobody knows what became of them', () => [
    [{}, open.ledger.list({ states: ['unknown'], limit: MOST }).length],
  ])
  metrics.gauge('countersign.server.up', 'Is the server connected?', () =>
    [...upstreams].map(([server, upstream]) => [{ server }, upstream.state.kind === 'ready' ? 1 : 0] as const),
  )
  metrics.gauge('countersign.budget.used', 'Part of the calls of a budget that is used', () =>
    budgets
      .view(Date.now())
      .slice(0, MOST)
      .flatMap(({ budget, holder, used, limits: { calls } }) =>
        calls === undefined || calls === 0 ? [] : [[{ budget, holder }, used.calls / calls] as const],
      ),
  )
}
