import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { JsonObject } from '../../words/json.ts'
import { namesSecret } from '../interpolate.ts'
import { type Client, type Entry, Left, type Surroundings } from './client.ts'
import { inlineCodeSwitch } from './inline-code.ts'
import { looksSecret } from './looks-secret.ts'
import type { Part } from './syntax.ts'

/** A server as it will stand in our file. */
export interface Draft {
  readonly server: JsonObject
  /** By name of the variable or header, what is written into a private file instead; undefined: a person has to. */
  readonly secrets: ReadonlyMap<string, string | undefined>
}

export interface DraftPlaces {
  readonly here: Surroundings
  readonly file: string
  /** Folder of our own file. */
  readonly folder: string
  /** The reference that stands for a secret of that name. */
  readonly secretReference: (name: string) => string
}

/** Says an entry of a client's file in our words. Nothing of it is run, and nothing of it is looked up but variables. */
export function draftOf(client: Client, entry: JsonObject, places: DraftPlaces): Draft | Left {
  const read = client.read(entry)
  if (read instanceof Left) return read
  const base = client.base(places.file, places.here)
  const partsOf = (text: string): readonly Part[] =>
    client.syntax(text, { userHome: places.here.userHome, workspace: base })
  const secrets = new Map<string, string | undefined>()
  const wrong: string[] = []
  const shown = (text: string): string => {
    const filled = openText(partsOf(text), places.here.environment, wrong)
    if (looksSecret(filled))
      wrong.push('it has a secret among its arguments, where everybody sees it; give it by `env`')
    return filled
  }
  const hidden = (name: string, text: string, always: boolean): string =>
    hiddenText(name, text, partsOf(text), always, places, secrets, wrong)
  const server = read.url === undefined ? programOf(read, base, places, shown, hidden) : remoteOf(read, shown, hidden)
  if (server instanceof Left) return server
  return wrong.length > 0 ? new Left(wrong[0]!) : { server, secrets }
}

type Shown = (text: string) => string
type Hidden = (name: string, text: string, always: boolean) => string

function programOf(read: Entry, base: string, places: DraftPlaces, shown: Shown, hidden: Hidden): JsonObject | Left {
  const { command = '', args = [], env = {}, envNames = [] } = read
  const said = shown(command)
  const program = said.startsWith('~/') ? places.here.userHome + said.slice(1) : said
  if (/\s/.test(program) && !existsSync(resolve(base, program)))
    return new Left('its command has blanks in it, and no shell takes it apart; write its words under `args`')
  const words = args.map(shown)
  const code = inlineCodeSwitch(program, words)
  if (code !== undefined) return new Left(`\`${code}\` runs code out of its arguments; put the code into a file`)
  const cwd = resolve(base, read.cwd === undefined ? '.' : shown(read.cwd))
  const variables = [
    ...Object.entries(env).map(([name, text]) => [name, hidden(name, text, namesSecret(name))] as const),
    ...envNames.map((name) => [name, `secret://env/${name}`] as const),
  ]
  return {
    command: program.includes('/') ? resolve(base, program) : program,
    ...(words.length === 0 ? {} : { args: words }),
    ...(cwd === places.folder ? {} : { cwd }),
    ...(variables.length === 0 ? {} : { env: Object.fromEntries(variables) }),
  }
}

function remoteOf(read: Entry, shown: Shown, hidden: Hidden): JsonObject | Left {
  const url = shown(read.url!)
  const { username, password, searchParams } = URL.canParse(url) ? new URL(url) : new URL('http://user@nowhere')
  if (
    username !== '' ||
    password !== '' ||
    [...searchParams].some(([name, it]) => namesSecret(name) || looksSecret(it))
  )
    return new Left('its URL holds a secret, and URLs are shown and logged; send it by `headers`')
  const headers = [
    ...Object.entries(read.headers ?? {}).map(
      ([name, text]) =>
        [name, hidden(name, text, namesSecret(name) || /^(authorization|cookie)$/i.test(name))] as const,
    ),
    ...Object.entries(read.envHeaders ?? {}).map(
      ([header, { before, name }]) => [header, `${before}secret://env/${name}`] as const,
    ),
  ]
  return { url, ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }) }
}

/** For places that are shown and logged. */
function openText(parts: readonly Part[], environment: Surroundings['environment'], wrong: string[]): string {
  return parts
    .map((part) => {
      if (part.kind === 'literal') return escaped(part.text)
      if (part.kind !== 'variable') {
        wrong.push(part.kind === 'input' ? `it asks for \`${part.id}\` in a place that is shown` : strange(part.text))
        return ''
      }
      const { name, otherwise } = part
      if (namesSecret(name)) wrong.push(`${name} looks like a secret, and stands where everybody sees it`)
      else if (otherwise === undefined && environment[name] === undefined)
        wrong.push(`the variable ${name} is not set here`)
      return otherwise === undefined ? `\${${name}}` : `\${${name}:-${otherwise}}`
    })
    .join('')
}

function hiddenText(
  name: string,
  text: string,
  parts: readonly Part[],
  always: boolean,
  { here, secretReference }: DraftPlaces,
  secrets: Map<string, string | undefined>,
  wrong: string[],
): string {
  const [first, second] = parts
  if (parts.length === 1 && first?.kind === 'literal') {
    if (text === '' || !(always || looksSecret(text))) return escaped(text)
    const [, before, value] = /^((?:bearer|basic|token) )?(.*)$/is.exec(text)!
    secrets.set(name, value!)
    return (before ?? '') + secretReference(name)
  }
  const before = first?.kind === 'literal' && parts.length === 2 ? first.text : ''
  const only = parts.length === 1 ? first : before !== '' ? second : undefined
  // Looked up when the server is started, so that one that is missing keeps back this server and not the gateway.
  if (only?.kind === 'variable' && only.otherwise === undefined && before.length <= 64)
    return `${before}secret://env/${only.name}`
  if (only?.kind === 'input' && before.length <= 64) {
    secrets.set(name, undefined)
    return before + secretReference(name)
  }
  for (const part of parts) {
    if (part.kind === 'strange' || part.kind === 'input')
      wrong.push(part.kind === 'input' ? `${name} joins what it asks for with other text` : strange(part.text))
    else if (part.kind === 'variable' && part.otherwise === undefined && here.environment[part.name] === undefined)
      wrong.push(`the variable ${part.name} is not set here`)
  }
  return parts
    .map((part) =>
      part.kind === 'literal'
        ? escaped(part.text)
        : part.kind === 'variable'
          ? `\${${part.name}${part.otherwise === undefined ? '' : `:-${part.otherwise}`}}`
          : '',
    )
    .join('')
}

function strange(text: string): string {
  return `\`${text}\` means something to that client only`
}

function escaped(text: string): string {
  return text.replaceAll('${', () => '$${')
}
