// Every cell of the crash matrix, two at a time; writes test/MATRIX.md. `npm run test:matrix`
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cells, classes, type Ended, nameOf, run } from './matrix.ts'

const waiting = [...cells(process.argv.includes('--all') ? [true, false] : [true])]
const total = waiting.length
const ended: Ended[] = []
const began = Date.now()

async function work(): Promise<void> {
  for (let cell = waiting.shift(); cell !== undefined; cell = waiting.shift()) {
    const one = await run(cell)
    ended.push(one)
    if (one.wrong.length > 0) process.stdout.write(`✖ ${nameOf(cell)}: ${one.wrong.join('; ')}\n`)
    else if (ended.length % 20 === 0) process.stdout.write(`${ended.length} of ${total}\n`)
  }
}
await Promise.all([work(), work()])

const revision = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const count = (of: readonly Ended[], holds: (one: Ended) => boolean): number => of.filter(holds).length
const rows = classes.map((effect) => {
  const of = ended.filter(({ cell }) => cell.effect === effect)
  return [
    effect,
    of.length,
    count(of, ({ killed }) => killed),
    count(of, ({ effects }) => effects > 1),
    count(of, ({ wrong }) => wrong.some((it) => it.includes('there was an effect'))),
    count(of, ({ evidence }) => evidence !== 'valid'),
    count(of, ({ wrong }) => wrong.some((it) => it.includes('needs a person'))),
  ]
})
const heads = [
  'class',
  'runs',
  'killed at the point',
  'duplicates',
  'false "none" or "failed"',
  'broken chains',
  'need a person',
]
const table = [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
const wrong = ended.filter((one) => one.wrong.length > 0)
writeFileSync(
  join(import.meta.dirname, '..', 'MATRIX.md'),
  `# Crash matrix

SIGKILL at every named point of a call, with every behaviour of the upstream, for every class of effects, on SQLite; then a
start, the look-up by key, and the same call once more. Effects are counted by the upstream's own books. Where a call never
reaches the point, the gateway is killed when the call is over. \`npm run test:matrix\` wrote this at revision ${revision}
in ${Math.round((Date.now() - began) / 1000)} s.

${table}

${wrong.length === 0 ? 'Nothing was wrong.' : wrong.map(({ cell, wrong: what }) => `- ${nameOf(cell)}: ${what.join('; ')}`).join('\n')}
`,
)
process.exit(wrong.length === 0 ? 0 : 1)
