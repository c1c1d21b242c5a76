import { createHash } from 'node:crypto'
import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { isJsonObject, type JsonObject } from '../../words/json.ts'
import { Secret } from '../../words/secret.ts'
import { type Client, Left, type Surroundings } from './client.ts'
import { draftOf } from './draft.ts'
import { ImportFault } from './fault.ts'
import { editText, entriesOf, readText } from './format.ts'
import { isSameServer, serverNameFor } from './names.ts'
import { serversIn, withServers } from './our-file.ts'

/** One server as it will be taken over. */
export interface Planned {
  /** As the client calls it, and as we will. */
  readonly from: string
  readonly name: string
  readonly server: JsonObject
  /** Names of the variables or headers whose values go into private files, and of those that a person has to fill in. */
  readonly moved: readonly string[]
  readonly missing: readonly { readonly name: string; readonly file: string }[]
  /** It stands in our file already. */
  readonly known: boolean
}

/** All that connecting a client will change. Nothing is changed by making one. */
export interface Plan {
  readonly client: Client
  /** Absolute, links followed. */
  readonly file: string
  readonly servers: readonly Planned[]
  readonly left: readonly { readonly name: string; readonly why: string }[]
  readonly notes: readonly string[]
  readonly secrets: readonly { readonly file: string; readonly value: Secret }[]
  /** The client's file. Without `before` it is made. */
  readonly theirs: { readonly before: Buffer | undefined; readonly after: string }
  /** Our file. Without `after` it stays as it is. */
  readonly ours: { readonly file: string; readonly before: Buffer | undefined; readonly after: string | undefined }
  /** Of the bytes that are there and of those that will be: what a person agrees to. */
  readonly digest: string
}

export interface PlanOptions {
  readonly client: Client
  readonly file: string | undefined
  readonly here: Surroundings
  readonly config: string
  /** What is written where there is no configuration yet. */
  readonly starter: () => string
  readonly home: string
  /** The program that clients start, with absolute paths. */
  readonly launcher: { readonly command: string; readonly args: readonly string[] }
}

export const entryName = 'countersign'

/** Absolute path of the file of that client. */
export function clientFile(client: Client, named: string | undefined, here: Surroundings): string {
  const candidates = client.files(here)
  const file = named === undefined ? (candidates.find((it) => existsSync(it)) ?? candidates.at(-1)!) : resolve(named)
  return existsSync(file) ? realpathSync(file) : file
}

export function planConnect(options: PlanOptions): Plan {
  const { client, here, config, launcher } = options
  const file = clientFile(client, options.file, here)
  const before = bytesOf(file)
  const text = utf8(before ?? Buffer.alloc(0), file)
  const value = readText(text, client.format, file)
  const stray = client.otherRoots.find((root) => Object.hasOwn(value, root))
  if (stray !== undefined && !Object.hasOwn(value, client.root))
    throw new ImportFault(
      'CLIENT_FILE',
      `${file} has \`${stray}\`, and ${client.title} reads \`${client.root}\``,
      'Name the right file with --file, or the client that it was written for.',
    )
  const entries = entriesOf(value, client.root, file)
  if (Object.hasOwn(entries, entryName))
    throw new ImportFault(
      'CLIENT_CONNECTED',
      `${file} has an entry \`${entryName}\` already`,
      `Run \`countersign disconnect ${client.name}\` first.`,
    )
  const taken = takeOver(entries, file, options)
  const put = { [entryName]: client.endpoint(launcher.command, launcher.args) }
  const remove = taken.servers.map((it) => it.from)
  const after = editText(text, client.format, { root: client.root, remove, put }, file)
  const ours = { file: config, before: bytesOf(config), after: taken.ours }
  return {
    client,
    file,
    ...taken,
    theirs: { before, after },
    ours,
    digest: digestOf([client.name, file, before, after, config, ours.before, ours.after]),
  }
}

/** What a client's entries become here. The file that they stand in is only read. */
export function takeOver(
  entries: JsonObject,
  file: string,
  { client, here, config, home, starter }: PlanOptions,
): Pick<Plan, 'servers' | 'left' | 'notes' | 'secrets'> & { readonly ours: string | undefined } {
  const text = existsSync(config) ? readFileSync(config, 'utf8') : starter()
  const known = serversIn(text, config)
  const names = new Set(Object.keys(known))
  const servers: Planned[] = []
  const left: { name: string; why: string }[] = []
  const notes: string[] = []
  const secrets: { file: string; value: Secret }[] = []
  const put: Record<string, JsonObject> = {}
  for (const [from, entry] of Object.entries(entries)) {
    const name = serverNameFor(from, names)
    const secretFile = (key: string): string => join(home, 'secrets', name, key)
    const draft = isJsonObject(entry)
      ? draftOf(client, entry, {
          here,
          file,
          folder: dirname(config),
          secretReference: (key) => reference(secretFile(key), dirname(config)),
        })
      : new Left('it is no map of settings')
    if (draft instanceof Left) {
      left.push({ name: from, why: draft.why })
      continue
    }
    const trusting = ['autoApprove', 'alwaysAllow', 'trust', 'default_tools_approval_mode'].find(
      (key) => key in (entry as object),
    )
    if (trusting !== undefined)
      notes.push(`${from}: \`${trusting}\` of ${client.title} is no permission here, and was left out`)
    const same = Object.entries(known).find(([, it]) => isJsonObject(it) && isSameServer(it, draft.server))
    if (same !== undefined) {
      servers.push({ from, name: same[0], server: draft.server, moved: [], missing: [], known: true })
      continue
    }
    names.add(name)
    put[name] = { enabled: false, ...draft.server }
    const moved = [...draft.secrets].flatMap(([key, secret]) => (secret === undefined ? [] : [{ key, secret }]))
    for (const { key, secret } of moved) secrets.push({ file: secretFile(key), value: new Secret(secret) })
    servers.push({
      from,
      name,
      server: draft.server,
      moved: moved.map(({ key }) => key),
      missing: [...draft.secrets].flatMap(([key, it]) =>
        it === undefined ? [{ name: key, file: secretFile(key) }] : [],
      ),
      known: false,
    })
  }
  const changed = Object.keys(put).length > 0 || !existsSync(config)
  return {
    servers,
    left,
    notes,
    secrets,
    ours: changed ? withServers(config, text, { put }, here.environment) : undefined,
  }
}

export function bytesOf(file: string): Buffer | undefined {
  return existsSync(file) ? readFileSync(file) : undefined
}

export function utf8(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ImportFault('CLIENT_FILE', `${file} is not UTF-8`, 'Save it as UTF-8 first.')
  }
}

export function digestOf(parts: readonly (string | Buffer | undefined)[]): string {
  const one = (part: string | Buffer | undefined): string =>
    part === undefined ? '-' : createHash('sha256').update(part).digest('hex')
  return one(parts.map(one).join('\n'))
}

function reference(file: string, folder: string): string {
  const way = relative(folder, file)
  return `secret://file/${(way.startsWith('..') ? file : way).split('/').map(encodeURIComponent).join('/')}`
}
