import { networkInterfaces, hostname } from 'node:os'
import { type Json, isJsonObject } from '../../words/json.ts'
import { type Ground, isOwn, survey } from './path.ts'
import type { Root } from './scoped.ts'
import { walk } from './walk.ts'

/** What belongs to whoever operates the gateway, and to no principal that calls a tool. */
export interface OwnPlaces {
  /** Home, configuration, policies, lock file. Absolute. */
  readonly paths: readonly string[]
  /** Ports on which the gateway listens; asked each time, since they are known only after the start. */
  readonly ports: () => readonly number[]
  /** Names, besides those of this machine, under which it is reached. */
  readonly hosts: readonly string[]
  /** Where each server's relative paths start from. */
  readonly folders: ReadonlyMap<string, string>
}

const MOST_TEXTS = 2048
const LONGEST_PATH = 4096
const URLS = /\b(?:https?|wss?):\/\/[^\s"'<>\\^`{|}]{1,2048}/gi

/**
 * Looks for the gateway's own files and its own door in all that a call says, whatever its profile declares: the arguments of a
 * tool that nobody described may name a path too. Answers a reason, or undefined. There is no policy that could permit it.
 */
export function reachesOwn(given: Json, server: string, own: OwnPlaces, roots: readonly Root[]): string | undefined {
  const said: Said = { values: [], keys: [] }
  if (!gather(given, said)) return 'the call says more than can be looked through'
  const { ground, needles } = groundOf(own)
  const bases = [own.folders.get(server), ...roots.map(({ path }) => path)].filter((it) => it !== undefined)
  for (const text of [...said.values, ...said.keys]) {
    const plain = decoded(text)
    const lower = plain.toLowerCase()
    // Also in the middle of a command line, and in a URL of the scheme `file`.
    if (needles.some((needle) => contains(lower, needle))) return OWN_FILES
    if (!mayHoldPort(text, own)) continue
    for (const [url] of text.matchAll(URLS)) if (isOwnDoor(url, own)) return OWN_DOOR
    if (text.length <= 300 && isOwnDoor(`http://${text}`, own)) return OWN_DOOR
  }
  for (const text of [...said.values, ...said.keys.filter((key) => key.includes('/'))]) {
    const path = pathIn(decoded(text))
    // What has neither a slash nor one word is prose.
    if (path === undefined || (!path.includes('/') && /\s/.test(path))) continue
    for (const place of path.startsWith('/') ? [path] : bases.map((base) => `${base}/${path}`)) {
      const found = walk(place)
      if (!('astray' in found) && isOwn(found, 'list', ground)) return OWN_FILES
    }
  }
  return undefined
}

interface Said {
  readonly values: string[]
  readonly keys: string[]
}

/** The gateway's own files are the operator's to move, and no call waits for a look at each of them. */
const LOOK_EVERY_MS = 1000
const looked = new WeakMap<
  OwnPlaces,
  { readonly at: number; readonly ground: Ground; readonly needles: readonly string[] }
>()

function groundOf(own: OwnPlaces): { readonly ground: Ground; readonly needles: readonly string[] } {
  const known = looked.get(own)
  const at = performance.now()
  if (known !== undefined && at - known.at < LOOK_EVERY_MS) return known
  const ground = survey([], own.paths)
  const needles = [...new Set([...own.paths, ...ground.guarded.map(({ real }) => real)])].map((it) => it.toLowerCase())
  const fresh = { at, ground, needles }
  looked.set(own, fresh)
  return fresh
}

function mayHoldPort(text: string, { ports }: OwnPlaces): boolean {
  return ports().some((port) => port === 80 || port === 443 || text.includes(String(port)))
}

const OWN_FILES = "it belongs to the gateway's own files, which no policy opens"
const OWN_DOOR = 'it leads to the door of this gateway, which is not for tools'

function gather(value: Json, into: Said): boolean {
  if (typeof value === 'string') {
    if (value !== '') into.values.push(value)
  } else if (Array.isArray(value)) return value.every((item) => gather(item as Json, into))
  else if (isJsonObject(value)) {
    for (const [key, item] of Object.entries(value)) {
      into.keys.push(key)
      if (!gather(item, into)) return false
    }
  }
  return into.values.length + into.keys.length <= MOST_TEXTS
}

function contains(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const after = text[at + path.length]
    // `/srv/.countersign-other` is another folder.
    if (after === undefined || !/[\w.-]/.test(after)) return true
  }
  return false
}

/** Slashes doubled and percent-encoded spellings undone, as whoever opens the path would. */
function decoded(text: string): string {
  let plain = text
  for (let n = 0; n < 2 && /%[0-9a-f]{2}/i.test(plain); n++)
    plain = plain.replaceAll(/%([0-7][0-9a-f])/gi, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return plain.replaceAll(/\/(?:\.?\/)+/g, '/')
}

function pathIn(text: string): string | undefined {
  if (text === '' || text.length > LONGEST_PATH || /[\u0000-\u001f]/.test(text)) return undefined
  const bare = text.replace(/^file:\/\/?(localhost)?/i, '')
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(bare) ? undefined : bare.replace(/^~(?=\/)/, process.env['HOME'] ?? '~')
}

function isOwnDoor(text: string, { ports, hosts }: OwnPlaces): boolean {
  const url = URL.parse(text)
  if (url === null) return false
  const port = url.port === '' ? (/^(https|wss):$/.test(url.protocol) ? 443 : 80) : Number(url.port)
  if (!ports().includes(port)) return false
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
  // Any name may resolve to this machine, and none can be looked up here: with our port only foreign literals pass.
  if (!/^[\d.]+$|:/.test(host)) return isLocalName(host, hosts) || !host.includes('.')
  return isThisMachine(host)
}

function isLocalName(host: string, hosts: readonly string[]): boolean {
  return (
    host === 'localhost' || host.endsWith('.localhost') || host === hostname().toLowerCase() || hosts.includes(host)
  )
}

function isThisMachine(address: string): boolean {
  if (/^(127\.|0\.)/.test(address) || address === '::' || address === '::1') return true
  const mapped = /^::(?:ffff:)?([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(address)
  if (mapped !== null) {
    const first = Number.parseInt(mapped[1]!, 16) >> 8
    if (first === 127 || first === 0) return true
  }
  return Object.values(networkInterfaces()).some((all) => all?.some((it) => it.address === address) === true)
}
