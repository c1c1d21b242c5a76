import { canonical } from '../../words/canonical.ts'
import { type Digest, digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import type { ToolOffer } from '../toolbox.ts'
import { cutText } from './cut.ts'
import type { KeyPlan } from './keys.ts'
import { projectNames } from './names.ts'
import type { Profile } from './profiles.ts'
import { projectSchema } from './schema.ts'

/** A tool as one provider is told of it. */
export interface ProjectedTool {
  readonly projectedName: string
  readonly exported: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly keys: KeyPlan
  readonly deferred: boolean
  /** Digest of the three members that the provider gets. */
  readonly digest: Digest
}

export interface SetAside {
  readonly exported: string
  readonly why: string
}

export interface Projection {
  /** In the order of their names, so that the same offers give the same bytes. */
  readonly tools: readonly ProjectedTool[]
  /** Tools that this provider cannot be told of. They alone are missing; the request is not in danger. */
  readonly quarantined: readonly SetAside[]
  /** Tools beyond the number that the provider takes. */
  readonly omitted: readonly SetAside[]
  /** What a schema could not say, per tool. */
  readonly warnings: readonly { readonly exported: string; readonly digest: Digest; readonly message: string }[]
  readonly byProjectedName: (name: string) => ProjectedTool | undefined
}

const NOTES_BYTES = 1500

/** All offers for one provider. A pure function: neither their order nor that of any object's keys shows in what comes out. */
export function projectTools(offers: readonly ToolOffer[], profile: Profile): Projection {
  const quarantined: SetAside[] = []
  const distinct = new Map<string, ToolOffer>()
  const twice = new Set<string>()
  for (const offer of offers) {
    const known = distinct.get(offer.exported)
    if (known === undefined) distinct.set(offer.exported, offer)
    else if (known.server !== offer.server || textOf(known) !== textOf(offer)) twice.add(offer.exported)
  }
  // Two meanings of one name: whichever were chosen, the other's caller would reach the wrong tool.
  for (const exported of twice) {
    distinct.delete(exported)
    quarantined.push({ exported, why: 'two tools are offered under this name' })
  }

  const named = [...distinct.values()].map(({ exported }) => ({ identity: exported, wanted: exported }))
  const names = projectNames(named, profile.names)
  const tools: ProjectedTool[] = []
  const warnings: { exported: string; digest: Digest; message: string }[] = []
  for (const offer of distinct.values()) {
    const { exported } = offer
    const projectedName = names.projected.get(exported)
    const schema = projectSchema(offer.inputSchema, profile)
    if (projectedName === undefined) quarantined.push({ exported, why: 'no name could be made for it' })
    else if (schema.kind === 'quarantined') quarantined.push({ exported, why: schema.why })
    else {
      const description = describe(offer, schema.notes)
      const shown = { name: projectedName, description, inputSchema: schema.schema }
      const tool = {
        projectedName,
        exported,
        description,
        inputSchema: schema.schema,
        keys: schema.keys,
        deferred: offer.deferred === true && profile.defersTools,
        digest: digest(JSON.stringify(shown)),
      }
      tools.push(tool)
      for (const message of schema.notes) warnings.push({ exported, digest: tool.digest, message })
    }
  }

  const byName = (one: { exported: string }, other: { exported: string }) => compare(one.exported, other.exported)
  tools.sort((one, other) => compare(one.projectedName, other.projectedName))
  const kept = tools.slice(0, profile.maxTools)
  const omitted = tools.slice(profile.maxTools).map(({ exported }) => ({
    exported,
    why: `this provider takes ${profile.maxTools} tools`,
  }))
  const lookup = new Map(kept.map((tool) => [tool.projectedName, tool]))
  return {
    tools: kept,
    quarantined: quarantined.sort(byName),
    omitted,
    warnings: warnings.sort(byName),
    byProjectedName: (name) => lookup.get(name),
  }
}

function describe(offer: ToolOffer, notes: readonly string[]): string {
  const own = offer.description === '' ? (offer.title ?? '') : offer.description
  if (notes.length === 0) return own.toWellFormed()
  const words = cutText(notes.join('\n'), NOTES_BYTES)
  return `${own.toWellFormed()}${own === '' ? '' : '\n\n'}${words}`
}

function textOf({ description, inputSchema, title }: ToolOffer): string {
  // Deeper than any schema that a gateway approves; what is deeper still is set aside by its schema.
  return canonical([description, title ?? null, inputSchema], 512)
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
