import { type FSWatcher, watch } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { ReloadReport } from '../api/configuration.ts'
import type { Config, ServerConfig } from '../config/config.ts'
import { loadConfig } from '../config/load.ts'
import { checkPolicies } from '../flow/resource/policy-set.ts'
import { SecretReference } from '../identity/secrets/reference.ts'
import { Secret } from '../words/secret.ts'
import type { Core } from './assemble.ts'
import { loosenings } from './loosening.ts'
import { readPolicies } from './policies.ts'

/** What a running gateway keeps until it is started anew: doors, identities and books that are open. */
const fixed = [
  'endpoint',
  'principals',
  'roots',
  'policy',
  'lock',
  'contentTypes',
  'limits',
  'sampling',
  'ledger',
  'evidence',
  'catalogue',
  'exposure',
  'search',
  'telemetry',
] as const satisfies readonly (keyof Config)[]

const SETTLES_AFTER_MS = 200

/**
 * Puts a changed configuration into force: read and checked as a whole, then swapped between two calls. Whatever is wrong
 * with it leaves the old one as it is.
 */
export class Reloader {
  readonly #core: Core
  readonly #watchers: FSWatcher[] = []
  #queue: Promise<unknown> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined
  #last: ReloadReport | undefined

  constructor(core: Core) {
    this.#core = core
  }

  /** Of the last try, if there was one. */
  get last(): ReloadReport | undefined {
    return this.#last
  }

  /** `loosening`: a person said that it may let more through than before. One reload at a time. */
  reload(options: { readonly loosening: boolean; readonly by: string }): Promise<ReloadReport> {
    const next = this.#queue.then(() => this.#reload(options))
    this.#queue = next.catch(() => {})
    return next
  }

  /** Reloads when the file or a policy changes. Folders are watched, since editors put a new file in place of the old. */
  watch(): void {
    const { file, policy } = this.#core.inForce.config
    const soon = (): void => {
      clearTimeout(this.#timer)
      this.#timer = setTimeout(() => {
        this.reload({ loosening: false, by: 'watch' }).catch((fault: unknown) => this.#core.onFault(fault, 'reload'))
      }, SETTLES_AFTER_MS)
      this.#timer.unref()
    }
    this.#look(dirname(file), (name) => name === basename(file), soon)
    this.#look(policy, (name) => name.endsWith('.cedar'), soon)
  }

  close(): void {
    clearTimeout(this.#timer)
    for (const watcher of this.#watchers.splice(0)) watcher.close()
  }

  #look(folder: string, wanted: (name: string) => boolean, soon: () => void): void {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name === null || wanted(name)) soon()
      })
      watcher.on('error', (fault) => this.#core.onFault(fault, 'reload'))
      this.#watchers.push(watcher)
    } catch (fault) {
      // Nothing is watched then; `config reload` still works.
      this.#core.onFault(fault, 'reload')
    }
  }

  async #reload({ loosening, by }: { readonly loosening: boolean; readonly by: string }): Promise<ReloadReport> {
    const { inForce, policies } = this.#core
    const before = inForce.config
    const report = (rest: Pick<ReloadReport, 'state'> & Partial<ReloadReport>): ReloadReport =>
      (this.#last = { at: Date.now(), changed: [], loosens: [], needsRestart: [], ...rest })
    let wanted: Config
    let texts: ReturnType<typeof readPolicies>
    try {
      wanted = loadConfig(before.file)
      texts = readPolicies(before.policy)
    } catch (fault) {
      return report({ state: 'rejected', why: fault instanceof Error ? fault.message : String(fault) })
    }
    const checked = checkPolicies(texts)
    if (!checked.ok) return report({ state: 'rejected', why: `policy: ${checked.messages.join('; ')}` })
    const needsRestart = fixed.filter((key) => !same(before[key], wanted[key]))
    const kept = Object.fromEntries(fixed.map((key) => [key, before[key]])) as unknown as Config
    const after: Config = Object.freeze({ ...wanted, ...kept })
    const changed = changes(before, after, policies.version !== checked.version)
    if (changed.length === 0) return report({ state: 'unchanged', needsRestart })
    const loosens = loosenings(before, after, { before: policies.version, after: checked.version })
    if (loosens.length > 0 && !loosening && before.reload.loosening === 'hold')
      return report({
        state: 'held',
        changed,
        loosens,
        needsRestart,
        why: 'it may let through more than before; `countersign config reload --yes` puts it into force',
      })
    // On record before it holds; where it cannot be recorded, it does not hold.
    const facts = { changed: [...changed], loosens: [...loosens], by, policy: checked.version }
    await this.#core.open.ledger.record({ kind: 'configuration.changed', at: Date.now(), facts })
    await this.#core.swap(after, texts)
    return report({ state: 'applied', changed, loosens, needsRestart })
  }
}

function changes(before: Config, after: Config, policy: boolean): readonly string[] {
  const names = new Set([...before.servers, ...after.servers].map((it) => it.spec.name))
  const of = (config: Config, name: string): ServerConfig | undefined =>
    config.servers.find(({ spec }) => spec.name === name)
  return [
    ...(policy ? ['policy'] : []),
    ...(['consent', 'budgets', 'waiting', 'reload', 'notify'] as const).filter((key) => !same(before[key], after[key])),
    ...[...names].filter((name) => !same(of(before, name), of(after, name))).map((name) => `servers.${name}`),
  ]
}

/** Also where the two differ in a secret only, which prints itself the same each time. */
export function same(one: unknown, other: unknown): boolean {
  return spelled(one) === spelled(other)
}

function spelled(value: unknown): string {
  const plain = (it: unknown): unknown => {
    if (it instanceof Secret) return { secret: it.reveal() }
    if (it instanceof SecretReference) return it.toString()
    if (it instanceof Map) return [...it].map(([key, part]) => [key, plain(part)])
    if (Array.isArray(it)) return it.map(plain)
    if (typeof it !== 'object' || it === null) return it
    return Object.fromEntries(Object.entries(it).map(([key, part]) => [key, plain(part)]))
  }
  return JSON.stringify(plain(value)) ?? ''
}
