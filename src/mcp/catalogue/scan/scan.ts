import { readText, unveil } from '../../../flow/result/wording/index.ts'
import type { JsonObject } from '../../../words/json.ts'
import type { Finding } from './finding.ts'
import { type Peer, shadowsOf } from './peers.ts'
import { structureOf } from './structure.ts'
import { type Surface, surfacesOf } from './surfaces.ts'

/** A value of an enumeration or a default is data. One that reads like an order has no other reason to be there. */
const OUT_OF_PLACE: Readonly<Partial<Record<Surface['kind'], number>>> = {
  enum: 0.6,
  default: 0.6,
  output: 0.3,
  example: 0.2,
  name: 0.6,
  title: 0.4,
}
const SENTENCE = /(?:\S+\s+){4,}\S/

/**
 * What is suspect in a definition, worst first. It is a signal and decides nothing by itself: half of all poisoned
 * definitions read like any other, which is why nothing is called before a person approved the very definition.
 */
export function scanDefinition(definition: JsonObject, peers: readonly Peer[] = []): readonly Finding[] {
  const found = [...structureOf(definition), ...shadowsOf(definition, peers)]
  for (const { at, kind, text } of surfacesOf(definition)) {
    if (kind === 'name' && unveil(text).mixed) {
      found.push({ rule: 'look-alike-name', at, score: 1, text, why: 'its name mixes letters that look alike' })
    }
    const suspicion = readText(text, 'definition')
    const sentence = SENTENCE.test(text)
    const extra = (kind === 'enum' || kind === 'default' || kind === 'name' ? sentence : true)
      ? (OUT_OF_PLACE[kind] ?? 0)
      : 0
    if (suspicion === undefined) continue
    const { veil, cues } = suspicion
    const words = cues.length === 0 ? 'characters that nobody sees' : cues.join(', ')
    found.push({
      rule: veil ?? `orders-in-${kind}`,
      at,
      score: suspicion.score + (cues.length > 0 ? extra : 0),
      text: suspicion.text,
      why: veil === undefined ? `it reads like orders to a model: ${words}` : `something is hidden there: ${words}`,
    })
  }
  return found.sort((one, other) => other.score - one.score)
}
