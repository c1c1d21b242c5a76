import type { OpenLedger } from '../../store/sqlite/open.ts'

/** What was bound and stored for one operation, for reading: the records of the chain as they were written, in short lines. */
export function recordLines(open: OpenLedger, operation: string): string[] {
  const lines = [`what is on record of ${operation}:`]
  for (const record of open.happenings(operation)) {
    lines.push(
      `record ${record.seq} · ${record.kind} · ${new Date(record.at).toISOString()}`,
      `  follows     ${record.prev.slice(0, 24)}…`,
      `  who         ${record.principal ?? ''} of ${record.tenant ?? ''}`,
      `  what        ${record.tool ?? ''}`,
      `  states      ${(record.path ?? []).join(' → ')}`,
    )
    const { arguments: args, result } = record.commitments ?? {}
    if (args !== undefined) lines.push(`  arguments   salted digest ${args.slice(0, 24)}…`)
    if (result !== undefined) lines.push(`  result      salted digest ${result.slice(0, 24)}…`)
    for (const { step, facts } of record.steps ?? []) {
      const bound = Object.entries(facts).map(([name, value]) => `${name} ${shown(value)}`)
      lines.push(`  ${step.padEnd(12)}${bound.join(', ')}`)
    }
  }
  return lines
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return /^[0-9a-f]{32,}$/.test(text) ? `${text.slice(0, 16)}…` : text
}
