import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { replaceSynced, syncFolder } from '../../store/synced-files.ts'
import type { JsonObject } from '../../words/json.ts'
import type { Client } from './client.ts'
import { ImportFault } from './fault.ts'
import { editText, entriesOf, readText } from './format.ts'
import { bytesOf, digestOf, entryName, type Plan, utf8 } from './plan.ts'

/** What is kept of a connected client, so that it can be undone. */
interface Connection {
  readonly client: string
  readonly file: string
  /** Was there a file before? */
  readonly existed: boolean
  readonly written: string
  readonly entry: JsonObject
  readonly taken: readonly string[]
  readonly servers: readonly string[]
}

const places = (home: string, client: string, file: string) => {
  const name = join(home, 'connections', `${client}-${digestOf([file]).slice(0, 12)}`)
  return { record: `${name}.json`, backup: `${name}.backup` }
}

/**
 * Writes what was planned: the backup, then the secrets, our file, and the client's file last. Throws PREVIEW_STALE, and
 * writes nothing, where a file is not any more what the plan was made from.
 */
export function connectClient(plan: Plan, home: string): void {
  assertFresh(plan)
  const { record, backup } = places(home, plan.client.name, plan.file)
  privateFolder(dirname(record))
  replaceSynced(backup, plan.theirs.before ?? Buffer.alloc(0), 0o600)
  const kept: Connection = {
    client: plan.client.name,
    file: plan.file,
    existed: plan.theirs.before !== undefined,
    written: digestOf([plan.theirs.after]),
    entry: entriesOf(readText(plan.theirs.after, plan.client.format, plan.file), plan.client.root, plan.file)[
      entryName
    ] as JsonObject,
    taken: plan.servers.map((it) => it.from),
    servers: plan.servers.map((it) => it.name),
  }
  replaceSynced(record, `${JSON.stringify(kept, undefined, 2)}\n`, 0o600)
  writeOurs(plan)
  mkdirSync(dirname(plan.file), { recursive: true })
  assertFresh({ ...plan, ours: { ...plan.ours, before: bytesOf(plan.ours.file) } })
  writeInPlace(plan.file, plan.theirs.after)
}

/** The secrets and our own file; the client's file is not touched. */
export function writeOurs({ secrets, ours }: Pick<Plan, 'secrets' | 'ours'>): void {
  for (const { file, value } of secrets) {
    privateFolder(dirname(dirname(file)))
    privateFolder(dirname(file))
    replaceSynced(file, value.reveal(), 0o600)
  }
  if (ours.after !== undefined) writeInPlace(ours.file, ours.after)
}

export function assertFresh({ file, theirs, ours }: Pick<Plan, 'file' | 'theirs' | 'ours'>): void {
  for (const [path, before] of [
    [file, theirs.before],
    [ours.file, ours.before],
  ] as const) {
    const now = bytesOf(path)
    const same = now === undefined || before === undefined ? now === before : now.equals(before)
    if (!same)
      throw new ImportFault(
        'PREVIEW_STALE',
        `${path} was changed since it was shown; nothing was written`,
        'Run the command again, and look at what it shows.',
      )
  }
}

export interface Undoing {
  readonly file: string
  /** `exact`: every byte as it was. `entries`: the file was changed since, and only our entry is taken out again. */
  readonly how: 'exact' | 'entries'
  readonly put: readonly string[]
  /** Undefined: the file is removed, since there was none. */
  readonly after: Buffer | undefined
  readonly before: Buffer
  readonly servers: readonly string[]
  readonly digest: string
}

/** What undoing the connection of a client will change. */
export function planDisconnect(client: Client, file: string, home: string): Undoing {
  const { record, backup } = places(home, client.name, file)
  const before = bytesOf(file)
  if (!existsSync(record) || before === undefined)
    throw new ImportFault(
      'CLIENT_NOT_CONNECTED',
      `${file} was not connected by this home`,
      'Name the file with --file, or the home with --home.',
    )
  const kept = JSON.parse(readFileSync(record, 'utf8')) as Connection
  const original = readFileSync(backup)
  const shared = { file, before, put: kept.taken, servers: kept.servers }
  if (digestOf([before]) === kept.written) {
    const after = kept.existed ? original : undefined
    return { ...shared, how: 'exact', after, digest: digestOf([file, before, after]) }
  }
  const text = utf8(before, file)
  const now = entriesOf(readText(text, client.format, file), client.root, file)
  const were = entriesOf(readText(utf8(original, file), client.format, file), client.root, file)
  const clash = kept.taken.find((name) => Object.hasOwn(now, name))
  if (!isDeepStrictEqual(now[entryName], kept.entry) || clash !== undefined)
    throw new ImportFault(
      'CLIENT_CHANGED',
      `${file} was changed since it was connected, ` +
        (clash === undefined ? `and its entry \`${entryName}\` is not ours any more` : `and has a new \`${clash}\``),
      `Put it right by hand; as it was before, it lies in ${backup}.`,
    )
  const put = Object.fromEntries(kept.taken.map((name) => [name, were[name] as JsonObject]))
  const after = Buffer.from(editText(text, client.format, { root: client.root, remove: [entryName], put }, file))
  return { ...shared, how: 'entries', after, digest: digestOf([file, before, after]) }
}

export function disconnectClient(client: Client, undoing: Undoing, home: string): void {
  const now = bytesOf(undoing.file)
  if (now?.equals(undoing.before) !== true)
    throw new ImportFault('PREVIEW_STALE', `${undoing.file} was changed since it was shown; nothing was written`)
  if (undoing.after === undefined) rmSync(undoing.file)
  else writeInPlace(undoing.file, undoing.after)
  const { record, backup } = places(home, client.name, undoing.file)
  rmSync(record)
  rmSync(backup)
}

/** Whole or not at all, with the mode that the file had. */
export function writeInPlace(file: string, text: string | Uint8Array): void {
  const mode = statSync(file, { throwIfNoEntry: false })?.mode
  replaceSynced(file, text, mode === undefined ? 0o600 : mode & 0o777)
  if (mode !== undefined) chmodSync(file, mode & 0o777)
  syncFolder(dirname(file))
}

function privateFolder(folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
}
