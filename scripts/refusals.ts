// Writes docs/refusals.md from the one table. `npm run docs` runs it; a test keeps the page equal to the table.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { refusals, type RefusalRow } from '../src/words/refusals.ts'

export function refusalsPage(): string {
  const head = [
    '# Refusals',
    '',
    'A refusal is an answer: nothing is broken, and the call was not let through. Every refusal has a code of this page,',
    'the facts that led to it, and a next step. Over HTTP it is an MCP result with `isError: true` and the code in',
    '`_meta["io.countersign/refusal"]`; with `--json` the CLI prints it on standard output and exits with 3.',
    '',
    'This page is made from `src/words/refusals.ts` by `npm run docs`.',
  ]
  const rows = Object.entries(refusals as Record<string, RefusalRow>).map(([code, row]) =>
    [
      '',
      `## \`${code}\``,
      '',
      row.say,
      '',
      `- **What to do:** ${row.next}`,
      `- **Said by:** ${row.step}; HTTP ${row.http}; the same call again: ${row.retry ? 'yes' : 'no'}`,
    ].join('\n'),
  )
  return `${[...head, ...rows].join('\n')}\n`
}

if (process.argv[1] === import.meta.filename)
  writeFileSync(join(import.meta.dirname, '..', 'docs', 'refusals.md'), refusalsPage())
