import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { legacyRevisions, modernRevisions } from '../../src/mcp/wire/revisions.ts'
import { requirementsOf, suiteVersion, expectedOf } from '../conformance/suite.ts'
import type { ClientRow } from './clients.ts'
import type { Row } from './fidelity.ts'

/** What was measured for docs/compatibility.md. */
export interface Measured {
  /** The same probes by a client of either revision. */
  readonly legacy: readonly Row[]
  readonly modern: readonly Row[]
  readonly ending: readonly Row[]
  readonly clients: readonly ClientRow[]
}

const BEGIN = '<!-- conformance: from test/conformance/expected.yaml -->'
const END = '<!-- /conformance -->'

const eras = ['modern', 'legacy'] as const
const revisions = ['2026-07-28', '2025-11-25'] as const

export function renderPage(measured: Measured): string {
  const probes = measured.legacy.map(({ probe, found }, n) => [probe, found, measured.modern[n]!.found])
  const ends = measured.ending.map(({ probe, found }) => [probe, found, found])
  return `# Compatibility

Countersign speaks ${[...modernRevisions, ...legacyRevisions].join(', ')}, to clients and to
servers, each hop for itself: a client of either revision has servers of either behind it. \`revisions\` of an endpoint or a server pins it to some.

This page is written by the test that measures what it says: \`npm run compatibility\`.

## The conformance suite

${conformanceSection()}

## What reaches the other side

One stdio server of 2025-11-25 whose eleven tools each show something that a relay could lose, behind the gateway; the official
client before it, of each revision. Two principals, A and B.

${table(['probe', 'client of 2025-11-25', 'client of 2026-07-28'], [...probes, ...ends])}

## Clients

What real clients did: listing the tools, calling one, and showing the refusal of a call whose arguments do not fit.

${table(
  ['client', 'by', 'revision', 'lists', 'calls', 'refusal'],
  measured.clients.map(({ client, by, era, lists, calls, refused }) => [client, by, era, lists, calls, refused]),
)}

To put Countersign before a client that is not named here: any client that speaks Streamable HTTP with a bearer token, or starts
a program (\`countersign stdio\`), can connect.
`
}

/** The same page with the figures of the conformance suite as they stand now. */
export function withConformance(page: string): string {
  const [before, rest] = [page.slice(0, page.indexOf(BEGIN)), page.slice(page.indexOf(END) + END.length)]
  if (!page.includes(BEGIN) || !page.includes(END)) throw new Error('docs/compatibility.md has no conformance section')
  return `${before}${conformanceSection()}${rest}`
}

/** Throws where the page has other figures of the conformance suite than stand in expected.yaml. */
export function assertFigures(): void {
  const page = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'compatibility.md'), 'utf8')
  assert.equal(page, withConformance(page), 'docs/compatibility.md: `npm run docs` writes the figures of the suite')
}

function conformanceSection(): string {
  const runs = [
    ...eras.flatMap((era) =>
      revisions.map((revision) => ({
        name: `server ${revision}, ${era} upstream`,
        what: `gateway before a ${era === 'modern' ? '2026-07-28' : '2025-11-25'} server`,
        revision,
        mode: 'server' as const,
      })),
    ),
    ...revisions.map((revision) => ({
      name: `client ${revision}`,
      what: 'gateway as the client of a server',
      revision,
      mode: 'client' as const,
    })),
  ]
  const rows = runs.map(({ name, what, revision, mode }) => {
    const failing = [...expectedOf(name).keys()].map((key) => key.split(': ')[0]!)
    const required = requirementsOf(revision)[mode]
    const passed = required.filter((scenario) => !failing.includes(scenario))
    const others = [...new Set(failing.filter((scenario) => !required.includes(scenario)))]
    return [what, revision, `${passed.length} of ${required.length}`, others.length === 0 ? 'none' : others.join(', ')]
  })
  const reasons = runs.flatMap(({ name }) =>
    Object.entries(Object.groupBy(expectedOf(name), ([, why]) => why)).map(([why, keys = []]) => [
      name,
      keys.map(([key]) => `\`${key}\``).join(', '),
      why,
    ]),
  )
  const known =
    reasons.length === 0
      ? 'Nothing is known to fail.'
      : `Known not to pass, and why:\n\n${table(['run', 'scenarios or checks', 'reason'], reasons)}`
  return `${BEGIN}

\`@modelcontextprotocol/conformance\` ${suiteVersion}, by \`npm run conformance\`: required scenarios passed, and what else of that
revision is run without being required and does not pass.

${table(['subject', 'revision', 'required', 'not required, and not passing'], rows)}

${known}

${END}`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
