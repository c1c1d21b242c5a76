import { readFileSync, existsSync } from 'node:fs'
import { fixture, type Site } from '../fixtures/site.ts'

/** What the bank did, by its own books: the one count that the code under test has no part in. */
export function booked(
  site: Site,
  kind: 'pay' | 'refund' | 'cancel' | 'saw' = 'pay',
): { id: string; ref: string; key: string }[] {
  if (!existsSync(site.effects)) return []
  const entries = readFileSync(site.effects, 'utf8').split('\n').filter(Boolean)
  return entries
    .map((line) => JSON.parse(line) as { kind: string; id: string; ref: string; key: string })
    .filter((entry) => entry.kind === kind)
}

/** The look-up by our key: `none` is said of a key that the bank has not seen. */
export function byKey(more: string): string {
  const key = '{ $operation: upstreamKey }'
  return `{ tool: bank/payment, arguments: { key: ${key} }, expect: [{ at: /structuredContent/key, equals: ${key} }, { at: /structuredContent/kind, equals: pay }], ${more} }`
}

/** The look-up by what the caller called it. */
export function byRef(more: string): string {
  const ref = '{ $argument: /ref }'
  return `{ tool: bank/payments, arguments: { ref: ${ref} }, expect: [{ at: /structuredContent/payments/0/ref, equals: ${ref} }], ${more} }`
}

/** A site with a bank as a process of its own; `pay` and `more` are YAML in flow or block form. */
export function bankSite(pay: string, more = '', args = ''): (site: Site) => string {
  return ({ effects }) => `
servers:
  bank:
    command: node
    args: [${fixture('bank')}, --effects, ${effects}${args}]
    tools:
      payment: { effect: read, risk: low }
      payments: { effect: read, risk: low }
      refunds: { effect: read, risk: low }
      pay:
        risk: low
        ${pay.trim().replaceAll('\n', '\n        ')}
${more}
consent: { rules: [{ name: all pass, decision: allow }] }
`
}
