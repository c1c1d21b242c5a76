import { spawn } from 'node:child_process'
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parse } from 'yaml'

/** What one check of the conformance suite found. */
export interface Check {
  readonly id: string
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO'
  readonly errorMessage?: string
}

export interface Findings {
  /** The checks by scenario. */
  readonly scenarios: ReadonlyMap<string, readonly Check[]>
  /** The scenarios that the revision requires; empty where single scenarios were run. */
  readonly required: readonly string[]
  /** Scenarios of which all checks passed, of those that are required. */
  readonly passed: readonly string[]
}

const require = createRequire(import.meta.url)
const folder = dirname(require.resolve('@modelcontextprotocol/conformance/package.json'))
const program = join(folder, 'dist', 'index.js')

export const suiteVersion = (require('@modelcontextprotocol/conformance/package.json') as { version: string }).version

interface Requirements {
  readonly server: readonly string[]
  readonly client: readonly string[]
}

export function requirementsOf(revision: string): Requirements {
  return parse(readFileSync(join(folder, 'requirements', `${revision}.yaml`), 'utf8')) as Requirements
}

/** Runs what a revision requires, and what the suite runs with it unscored. */
export async function runSuite(
  mode: 'server' | 'client',
  revision: string,
  subject: readonly string[],
): Promise<Findings> {
  const results = mkdtempSync(join(tmpdir(), 'countersign-conformance-'))
  try {
    const output = await run([mode, ...subject, '--requirements', revision, '-o', results])
    const scenarios = new Map(
      globSync('**/checks.json', { cwd: results }).map((file) => [
        scenarioOf(dirname(file), mode),
        JSON.parse(readFileSync(join(results, file), 'utf8')) as Check[],
      ]),
    )
    const required = requirementsOf(revision)[mode]
    const absent = required.filter((name) => !scenarios.has(name))
    if (absent.length > 0) throw new Error(`the suite did not run ${absent.join(', ')}:\n${output.slice(-4000)}`)
    const passed = required.filter((name) => !scenarios.get(name)!.some(isFailure))
    return { scenarios, required, passed }
  } finally {
    rmSync(results, { recursive: true, force: true })
  }
}

function isFailure({ status }: Check): boolean {
  return status === 'FAILURE' || status === 'WARNING'
}

// A folder of results is named by the mode, where it is the server's, the scenario, and the moment.
function scenarioOf(entry: string, mode: string): string {
  const name = entry.replace(/-\d{4}-\d{2}-\d{2}T[\d-]+Z$/, '')
  return mode === 'server' ? name.replace(/^server-/, '') : name
}

function run(args: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text))
    child.once('error', reject)
    // How it exits says whether something failed, and which of it was expected is not for the suite to know.
    child.once('close', () => resolve(output))
  })
}

/** Everything that did not pass: `scenario` and `check`, with what the suite said of it. */
export function failuresOf({ scenarios }: Findings): ReadonlyMap<string, string> {
  const failures = new Map<string, string>()
  for (const [scenario, checks] of [...scenarios].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    for (const { id, status, errorMessage } of checks) {
      if (status === 'FAILURE' || status === 'WARNING') failures.set(`${scenario}: ${id}`, errorMessage ?? status)
    }
  }
  return failures
}

/** What is known not to pass, by the name of a run: a check and the reason, or a whole scenario where all of it has one. */
type Expected = Readonly<Record<string, Readonly<Record<string, string>>>>

const expectedFile = join(import.meta.dirname, 'expected.yaml')

export function expectedOf(run: string): ReadonlyMap<string, string> {
  const all = (parse(readFileSync(expectedFile, 'utf8')) ?? {}) as Expected
  return new Map(Object.entries(all[run] ?? {}))
}

/** Says what failed and was not expected, and what was expected and did not fail. Both empty is a pass. */
export function compare(
  failures: ReadonlyMap<string, string>,
  expected: ReadonlyMap<string, string>,
): { readonly unexpected: readonly string[]; readonly stale: readonly string[] } {
  const covers = (entry: string, failure: string) => entry === failure || failure.startsWith(`${entry}: `)
  return {
    unexpected: [...failures]
      .filter(([failure]) => ![...expected.keys()].some((entry) => covers(entry, failure)))
      .map(([failure, why]) => `${failure} (${why})`),
    stale: [...expected.keys()].filter((entry) => ![...failures.keys()].some((failure) => covers(entry, failure))),
  }
}
