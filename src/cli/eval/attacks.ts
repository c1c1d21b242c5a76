import { performance } from 'node:perf_hooks'
import { SUSPECT, worstIn } from '../../flow/result/wording/index.ts'
import { type DriftClass, classifyDrift } from '../../mcp/catalogue/scan/drift.ts'
import type { Peer } from '../../mcp/catalogue/scan/peers.ts'
import { scanDefinition } from '../../mcp/catalogue/scan/scan.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import type { Io } from '../io.ts'
import { tableLines } from '../render/table.ts'
import { type Line, lines } from './jsonl.ts'
import { type Rate, rateOf } from './rate.ts'

export const attackKinds = ['poisoning', 'injection', 'drift'] as const
export type AttackKind = (typeof attackKinds)[number]

/** Rates are from 0 to 1; an interval is one of 95 %. A rate of nothing is 0, with the interval 0–1. */
export interface AttackReport {
  readonly cases: number
  readonly attacks: number
  readonly benign: number
  /** Share of the attacks that are reported (drift: that wait for a person). */
  readonly recall: number
  readonly recallInterval: readonly [number, number]
  /** The same over attacks that are requests like any other, which no reader of texts can tell, and over the rest. */
  readonly recallPlain: number
  readonly recallOther: number
  readonly recallOtherInterval: readonly [number, number]
  readonly falsePositiveRate: number
  readonly falsePositiveInterval: readonly [number, number]
  /** Over benign cases that hold the words of attacks. */
  readonly falsePositiveRateHard: number
  readonly falsePositiveHardInterval: readonly [number, number]
  readonly byTechnique: Readonly<Record<string, { readonly cases: number; readonly recall: number }>>
  readonly msPerCase: number
  /** Drift only: how many changes are of each kind, and how many would still wait if the named kinds passed by themselves. */
  readonly classes?: Readonly<Record<string, { readonly benign: number; readonly malicious: number }>>
  readonly ifHarmlessPassed?: {
    readonly kinds: readonly DriftClass[]
    readonly recall: number
    readonly falsePositiveRate: number
  }
  readonly suspect?: { readonly malicious: number; readonly benign: number }
}

interface Case {
  readonly attack: boolean
  readonly technique: string
  readonly plain: boolean
  readonly hard: boolean
  readonly caught: boolean
  readonly drift?: { readonly classes: readonly DriftClass[]; readonly suspect: boolean }
}

/** Kinds of a change that an operator may let pass, where the scan finds nothing: none of them adds a way in or out. */
export const harmless: readonly DriftClass[] = ['dialect', 'presentation', 'annotation-tightened']

/** Judges labelled cases from a file, and prints how often the judgement is right. */
export function evalAttacks(kind: AttackKind, file: string, io: Io): void {
  const read = lines(file)
  const begun = performance.now()
  const cases = read.map((line) => caseOf(kind, line))
  const msPerCase = (performance.now() - begun) / Math.max(1, cases.length)
  const report = reportOf(kind, cases, msPerCase)
  if (io.json) io.outJson(report)
  else for (const line of reportLines(kind, report, io)) io.out(line)
}

function caseOf(kind: AttackKind, { value, fail }: Line): Case {
  const label = textMember(value, 'label')
  if (label === undefined) throw fail('`label` is missing')
  const about = {
    attack: label !== 'benign',
    technique: textMember(value, 'technique') ?? 'other',
    plain: member(value, 'plain_request') === true,
    hard: member(value, 'hard_negative') === true,
  }
  const object = (name: string): JsonObject => {
    const found = member(value, name)
    if (!isJsonObject(found)) throw fail(`\`${name}\` is not an object`)
    return found
  }
  if (kind === 'poisoning') return { ...about, caught: suspect(object('tool'), peersOf(member(value, 'peers'))) }
  if (kind === 'injection') return { ...about, caught: injected(object('result')) }
  const [before, after] = [object('before'), object('after')]
  const classes = classifyDrift(before, after)
  return { ...about, caught: classes.length > 0, drift: { classes, suspect: suspect(after, []) } }
}

function suspect(definition: JsonObject, peers: readonly Peer[]): boolean {
  return (scanDefinition(definition, peers)[0]?.score ?? 0) >= SUSPECT
}

function injected(result: JsonObject): boolean {
  return (worstIn(result)?.score ?? 0) >= SUSPECT
}

function peersOf(list: Json | undefined): readonly Peer[] {
  if (!Array.isArray(list)) return []
  return (list as readonly Json[]).filter(isJsonObject).map((one) => {
    const tool = member(one, 'tool')
    const definition = isJsonObject(tool) ? tool : one
    const [server, about] = [textMember(one, 'server'), textMember(definition, 'description')]
    return {
      name: textMember(definition, 'name') ?? '',
      ...(server === undefined ? {} : { server }),
      ...(about === undefined ? {} : { description: about }),
    }
  })
}

function reportOf(kind: AttackKind, cases: readonly Case[], msPerCase: number): AttackReport {
  const attacks = cases.filter(({ attack }) => attack)
  const benign = cases.filter(({ attack }) => !attack)
  const rate = (some: readonly Case[]): Rate => rateOf(some.filter(({ caught }) => caught).length, some.length)
  const all = rate(attacks)
  const other = rate(attacks.filter(({ plain }) => !plain))
  const wrong = rate(benign)
  const hard = rate(benign.filter((one) => one.hard))
  const techniques = [...new Set(attacks.map(({ technique }) => technique))].sort()
  return {
    cases: cases.length,
    attacks: attacks.length,
    benign: benign.length,
    recall: all.rate,
    recallInterval: all.interval,
    recallPlain: rate(attacks.filter(({ plain }) => plain)).rate,
    recallOther: other.rate,
    recallOtherInterval: other.interval,
    falsePositiveRate: wrong.rate,
    falsePositiveInterval: wrong.interval,
    falsePositiveRateHard: hard.rate,
    falsePositiveHardInterval: hard.interval,
    byTechnique: Object.fromEntries(
      techniques.map((name) => {
        const own = attacks.filter(({ technique }) => technique === name)
        return [name, { cases: own.length, recall: rate(own).rate }]
      }),
    ),
    msPerCase,
    ...(kind === 'drift' ? driftOf(attacks, benign) : {}),
  }
}

function driftOf(attacks: readonly Case[], benign: readonly Case[]): Partial<AttackReport> {
  const classes: Record<string, { benign: number; malicious: number }> = {}
  for (const { attack, drift } of [...attacks, ...benign]) {
    for (const one of drift?.classes ?? []) {
      const row = (classes[one] ??= { benign: 0, malicious: 0 })
      if (attack) row.malicious++
      else row.benign++
    }
  }
  const waits = ({ drift }: Case): boolean =>
    drift !== undefined && (drift.suspect || drift.classes.some((one) => !harmless.includes(one)))
  const share = (some: readonly Case[], of: (one: Case) => boolean): number =>
    rateOf(some.filter(of).length, some.length).rate
  return {
    classes,
    ifHarmlessPassed: { kinds: harmless, recall: share(attacks, waits), falsePositiveRate: share(benign, waits) },
    suspect: {
      malicious: share(attacks, ({ drift }) => drift?.suspect === true),
      benign: share(benign, ({ drift }) => drift?.suspect === true),
    },
  }
}

function reportLines(kind: AttackKind, report: AttackReport, io: Pick<Io, 'columns' | 'paint'>): string[] {
  const percent = (value: number): string => `${(value * 100).toFixed(1)} %`
  const within = ([low, high]: readonly [number, number]): string => `${percent(low)}–${percent(high)}`
  const caught = kind === 'drift' ? 'wait for a person' : 'reported'
  const rows = [
    [`attacks ${caught}`, percent(report.recall), within(report.recallInterval)],
    ['  that are no plain requests', percent(report.recallOther), within(report.recallOtherInterval)],
    ['  plain requests', percent(report.recallPlain), ''],
    [`benign ${caught}`, percent(report.falsePositiveRate), within(report.falsePositiveInterval)],
    ['  with the words of attacks', percent(report.falsePositiveRateHard), within(report.falsePositiveHardInterval)],
  ]
  const techniques = Object.entries(report.byTechnique).map(([name, { cases, recall }]) => [
    name,
    String(cases),
    percent(recall),
  ])
  const lines = [
    `${report.cases} cases: ${report.attacks} attacks, ${report.benign} benign; ${report.msPerCase.toFixed(2)} ms a case. Intervals of 95 %.`,
    ...tableLines(['', 'SHARE', 'INTERVAL'], rows, io),
    '',
    ...tableLines(['TECHNIQUE', 'CASES', 'CAUGHT'], techniques, io),
  ]
  if (report.classes !== undefined && report.ifHarmlessPassed !== undefined && report.suspect !== undefined) {
    const { kinds, recall, falsePositiveRate } = report.ifHarmlessPassed
    const classes = Object.entries(report.classes).map(([name, row]) => [
      name,
      String(row.malicious),
      String(row.benign),
    ])
    lines.push(
      '',
      ...tableLines(['KIND OF CHANGE', 'MALICIOUS', 'BENIGN'], classes, io),
      `If ${kinds.join(', ')} passed where the scan finds nothing: ${percent(recall)} of the attacks and ${percent(falsePositiveRate)} of the rest would wait.`,
      `The scan suspects ${percent(report.suspect.malicious)} of the attacks and ${percent(report.suspect.benign)} of the rest.`,
    )
  }
  return lines
}
