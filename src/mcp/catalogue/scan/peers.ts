import { latin } from '../../../flow/result/wording/unveil.ts'
import { type JsonObject, textMember } from '../../../words/json.ts'
import type { Finding } from './finding.ts'

/** Another tool that the same model would see. */
export interface Peer {
  readonly server?: string
  readonly name: string
  readonly description?: string
}

const FILLERS = new Set([
  'the',
  'a',
  'an',
  'my',
  'new',
  'tool',
  'v2',
  'pro',
  'plus',
  'secure',
  'safe',
  'better',
  'best',
  'fast',
  'official',
  'real',
])

/** A name as a hurried reader sees it: look-alike letters, separators, fillers and plurals count for nothing. */
export function skeleton(name: string): string {
  return latin(name.normalize('NFKC'))
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll('0', 'o')
    .replaceAll(/[1|]/g, 'l')
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '' && !FILLERS.has(word))
    .map((word) => (word.length > 3 && word.endsWith('s') ? word.slice(0, -1) : word))
    .join('_')
}

/** A tool that stands in for another one: a name that reads the same, or the very same words about itself. */
export function shadowsOf(definition: JsonObject, peers: readonly Peer[]): Finding[] {
  const found: Finding[] = []
  const name = textMember(definition, 'name') ?? ''
  const about = gist(textMember(definition, 'description') ?? '')
  const own = skeleton(name)
  for (const peer of peers) {
    const theirs = gist(peer.description ?? '')
    const alike = own !== '' && skeleton(peer.name) === own
    const same = about.length >= 24 && about === theirs
    const near = !alike && distance(own, skeleton(peer.name)) <= (own.length >= 8 ? 2 : 1) && own.length >= 5
    const text = peer.server === undefined ? peer.name : `${peer.server}/${peer.name}`
    if (alike || same) {
      found.push({ rule: 'shadows-a-tool', at: '/name', score: 1, text, why: `it reads like ${text}, another tool` })
    } else if (near) {
      found.push({ rule: 'near-a-tool', at: '/name', score: 0.6, text, why: `its name is almost that of ${text}` })
    }
  }
  return found
}

function gist(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()
}

/** Edits between two names, up to 3. */
function distance(one: string, other: string): number {
  if (Math.abs(one.length - other.length) > 2) return 3
  let row = Array.from({ length: other.length + 1 }, (_, n) => n)
  for (let i = 1; i <= one.length; i++) {
    const next = [i]
    for (let j = 1; j <= other.length; j++) {
      next[j] = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (one[i - 1] === other[j - 1] ? 0 : 1))
    }
    row = next
  }
  return Math.min(3, row[other.length]!)
}
