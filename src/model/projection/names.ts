import { digest } from '../../words/digest.ts'
import type { NameRule } from './profiles.ts'

export interface Named {
  /** What the name stands for; unique among those given. */
  readonly identity: string
  readonly wanted: string
}

/** Both directions. A name is never taken apart to find out what it stands for. */
export interface NameTable {
  readonly projected: ReadonlyMap<string, string>
  readonly identities: ReadonlyMap<string, string>
}

// Provider packages look tool names up in plain objects, where `constructor` is found without being there.
const inherited: ReadonlySet<string> = new Set(Object.getOwnPropertyNames(Object.prototype))

export function isInherited(name: string): boolean {
  return inherited.has(name)
}

/**
 * Names that a provider takes. A name that fits is kept; one that had to be changed carries a digest of its identity, so
 * that it depends on nothing else that is offered: not on order, not on what joins or leaves. Only identities that
 * want the very same name depend on each other.
 */
export function projectNames(named: readonly Named[], rule: NameRule): NameTable {
  const fits = new RegExp(`^[${rule.first}][${rule.rest}]*$`)
  const wanting = new Map<string, number>()
  for (const { wanted } of named) wanting.set(wanted, (wanting.get(wanted) ?? 0) + 1)

  const projected = new Map<string, string>()
  const changed: Named[] = []
  for (const one of named) {
    const { wanted } = one
    const plain = wanted.length <= rule.max && fits.test(wanted) && !inherited.has(wanted) && wanting.get(wanted) === 1
    if (plain) projected.set(one.identity, wanted)
    else changed.push(one)
  }

  const taken = new Set(projected.values())
  // Twelve digits are enough unless somebody chose a name to collide; then those that collide get longer ones.
  for (let length = 12, rest = changed; rest.length > 0 && length <= 60; length += 16) {
    const attempt = rest.map((one) => ({ one, name: digested(one, rule, length) }))
    const times = new Map<string, number>()
    for (const { name } of attempt) times.set(name, (times.get(name) ?? 0) + 1)
    rest = []
    for (const { one, name } of attempt) {
      if (taken.has(name) || times.get(name) !== 1) rest.push(one)
      else projected.set(one.identity, name)
    }
    for (const name of projected.values()) taken.add(name)
  }

  return { projected, identities: new Map([...projected].map(([identity, name]) => [name, identity])) }
}

function digested({ identity, wanted }: Named, rule: NameRule, length: number): string {
  let stem = wanted.replace(new RegExp(`[^${rule.rest}]+`, 'gu'), '_')
  if (!/[A-Za-z0-9]/.test(stem)) stem = 'tool'
  if (!new RegExp(`^[${rule.first}]`).test(stem)) stem = `_${stem}`
  stem = stem.slice(0, rule.max - length - 1).replace(/_+$/, '')
  return `${stem}_${digest(identity).slice(0, length)}`
}
