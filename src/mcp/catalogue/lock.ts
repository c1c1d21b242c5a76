import { closeSync, fsyncSync, openSync, readFileSync, renameSync, rmSync, writeSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { parseDocument } from 'yaml'
import { z } from 'zod'
import { type Pinned, instructionsDigest, pinOf } from '../../flow/tool/definition.ts'
import { CanonicalFault, canonical } from '../../words/canonical.ts'
import { type Digest, isDigest } from '../../words/digest.ts'
import { type Json, type JsonObject, isJsonObject } from '../../words/json.ts'
import { serverIdentity } from './identity.ts'
import { readOwnYaml } from './lock-reader.ts'
import { yamlOf } from './lock-text.ts'

/** Bytes of a lock file; a thousand large tools take about three million. */
const LARGEST = 64 << 20
const TEXT_DEPTH = 80

const digestText = z.custom<Digest>((value) => typeof value === 'string' && isDigest(value), 'expected 64 hex digits')
const instant = z.iso.datetime({ precision: 3, error: 'expected a time such as 2026-11-30T12:00:00.000Z' })
// Not looked into and not copied: whatever a server said is kept, and the pin says whether it is whole.
const jsonObject = z.custom<JsonObject>(isJsonObject, 'expected a mapping')

/** A mapping whose keys are names that servers choose: as a Map, since one may be called `__proto__`. */
function named<Value extends z.ZodType>(value: Value) {
  const entries = (mapping: unknown): unknown => (isJsonObject(mapping) ? new Map(Object.entries(mapping)) : mapping)
  return z.preprocess(entries, z.map(z.string(), value, 'expected a mapping'))
}

const entrySchema = z.strictObject({
  approvedAt: instant,
  approvedBy: z.string().min(1),
  /** All that the server said of it, as it was approved. */
  definition: jsonObject,
  pin: digestText,
  /** A person took the approval back. What was approved stays on file, so that it can be compared. */
  quarantined: z.strictObject({ at: instant, by: z.string().min(1), why: z.string() }).exactOptional(),
})

const serverSchema = z.strictObject({
  approvedAt: instant,
  approvedBy: z.string().min(1),
  identity: jsonObject,
  identityDigest: digestText,
  instructions: z.string().exactOptional(),
  prompts: named(entrySchema).optional(),
  tools: named(entrySchema).optional(),
})

const lockSchema = z.strictObject({
  servers: named(serverSchema).optional(),
  version: z.literal(1, 'expected version 1'),
})

export type LockEntry = z.output<typeof entrySchema>

/** One server as it was approved, with what was approved of it by the server's own names. */
export interface LockServer {
  readonly approvedAt: string
  readonly approvedBy: string
  readonly identity: JsonObject
  readonly identityDigest: Digest
  readonly instructions?: string
  readonly tools: ReadonlyMap<string, LockEntry>
  readonly prompts: ReadonlyMap<string, LockEntry>
}

/** By the names that the operator gave the servers. */
export type Lock = ReadonlyMap<string, LockServer>

/** The lock file cannot be used as it is. Nothing is approved then: the message says where and what is wrong. */
export class LockFault extends Error {
  override readonly name = 'LockFault'
  readonly file: string
  constructor(file: string, message: string) {
    super(`${file}: ${message}`)
    this.file = file
  }
}

/**
 * Reads the approved definitions. A file that is not there approves nothing; one that is not understood to its last key,
 * or whose pins do not belong to its definitions, is a fault.
 */
export function readLock(file: string): Lock {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (fault) {
    if ((fault as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw new LockFault(file, `it cannot be read (${(fault as NodeJS.ErrnoException).code ?? 'unknown reason'})`)
  }
  return parseLock(text, file)
}

export function parseLock(text: string, file: string): Lock {
  if (text.length > LARGEST) throw new LockFault(file, `it is larger than ${LARGEST} characters`)
  const read = lockSchema.safeParse(valueOf(text, file))
  if (!read.success) {
    const [issue] = read.error.issues
    throw new LockFault(file, `${issue!.path.map(String).join('.') || 'the file'}: ${issue!.message}`)
  }
  const lock = new Map<string, LockServer>()
  for (const [name, { tools = new Map(), prompts = new Map(), ...server }] of read.data.servers ?? []) {
    lock.set(name, { ...server, tools, prompts })
    checkServer(name, lock.get(name)!, file)
  }
  return lock
}

/**
 * Writes the whole file, or leaves the old one as it was: a file beside it is written and synced, then takes its name.
 * What was written is read back before that, so that no text is put in place that would not be understood.
 */
export function writeLock(file: string, lock: Lock): void {
  const text = lockText(lock)
  if (
    canonical(parseLock(text, file) as unknown as Json, TEXT_DEPTH) !== canonical(lock as unknown as Json, TEXT_DEPTH)
  ) {
    throw new LockFault(file, 'what would be written does not read back as what it should say')
  }
  const beside = join(dirname(file), `.${basename(file)}.${process.pid}.tmp`)
  try {
    const fd = openSync(beside, 'w', 0o644)
    try {
      for (let rest = Buffer.from(text, 'utf8'); rest.length > 0;) rest = rest.subarray(writeSync(fd, rest))
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    renameSync(beside, file)
  } catch (fault) {
    rmSync(beside, { force: true })
    throw new LockFault(file, `it cannot be written (${(fault as NodeJS.ErrnoException).code ?? 'unknown reason'})`)
  }
  // The new name is on disk only when its folder is.
  const folder = openSync(dirname(file), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}

export function lockText(lock: Lock): string {
  return `${HEAD}${yamlOf(plain(lock))}`
}

function plain(lock: Lock): Json {
  const servers = [...lock].map(([name, { tools, prompts, ...server }]) => {
    return [name, { ...server, tools: Object.fromEntries(tools), prompts: Object.fromEntries(prompts) }]
  })
  return { version: 1, servers: Object.fromEntries(servers) as JsonObject }
}

const HEAD = `# The definitions that a person approved. Written by \`countersign tool approve\`; commit and review it like any lock file.
# A pin is the digest of a definition, of its server's identity and of the server's instructions: edit one, and it no longer fits.
`

function valueOf(text: string, file: string): unknown {
  const own = text.startsWith(HEAD) ? readOwnYaml(text.slice(HEAD.length)) : undefined
  if (own !== undefined) return own
  const document = parseDocument(text, { version: '1.2', schema: 'core', uniqueKeys: true, logLevel: 'silent' })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem !== undefined) {
    const { line, col } = problem.linePos?.[0] ?? { line: 0, col: 0 }
    throw new LockFault(file, `line ${line}, column ${col}: ${problem.message.replace(/ at line [^]*/, '')}`)
  }
  try {
    // Aliases would let a small file stand for an enormous one.
    return document.toJS({ maxAliasCount: 0 })
  } catch (fault) {
    throw new LockFault(file, fault instanceof Error ? fault.message : 'it cannot be understood')
  }
}

function checkServer(name: string, server: LockServer, file: string): void {
  const where = `servers.${name}`
  const identity = orFault(file, `${where}.identity`, () => serverIdentity(server.identity))
  if (identity !== server.identityDigest) {
    throw new LockFault(file, `${where}.identityDigest: it is not the digest of the identity in the file`)
  }
  const about = { serverIdentity: identity, instructions: instructionsDigest(server.instructions) }
  for (const [kind, entries] of [
    ['tool', server.tools],
    ['prompt', server.prompts],
  ] as const) {
    for (const [entryName, entry] of entries) {
      const at = `${where}.${kind}s.${entryName}`
      const pinned: Pinned = { kind, definition: entry.definition, ...about }
      if (orFault(file, `${at}.definition`, () => pinOf(pinned)) !== entry.pin) {
        throw new LockFault(
          file,
          `${at}.pin: it is not the pin of the definition, identity and instructions in the file`,
        )
      }
      if (entry.definition['name'] !== entryName) {
        throw new LockFault(file, `${at}.definition.name: it is not ${JSON.stringify(entryName)}`)
      }
    }
  }
}

function orFault<Value>(file: string, at: string, make: () => Value): Value {
  try {
    return make()
  } catch (fault) {
    if (fault instanceof CanonicalFault) throw new LockFault(file, `${at}: ${fault.message}`)
    throw fault
  }
}
