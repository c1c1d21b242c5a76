import { execFile } from 'node:child_process'
import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { inspect } from 'node:util'
import { Secret } from '../../words/secret.ts'

const WITHIN_MS = 10_000
const MOST_BYTES = 64 * 1024

/** What a configuration says in place of a secret: where it is. The value is got each time that it is needed, and not kept. */
export class SecretReference {
  readonly #before: string
  readonly #source: Source
  readonly #folder: string

  /** Throws a TypeError where the text is no reference. Relative files start from the folder. */
  constructor(text: string, folder: string) {
    const [, before, kind, rest] = FORM.exec(text) ?? []
    if (kind === undefined || rest === undefined)
      throw new TypeError('expected secret://env/…, file/…, command/… or keychain/…')
    this.#before = before ?? ''
    this.#source = sourceOf(kind, rest.split('/').map(decodeURIComponent))
    this.#folder = folder
  }

  /** What stands before it in the text, such as `Bearer `, goes before the value. Throws an Error that holds no part of a secret. */
  async resolve(): Promise<Secret> {
    const value = await read(this.#source, this.#folder)
    if (value === '') throw new Error(`${told(this.#source)} is empty`)
    return new Secret(this.#before + value)
  }

  toString(): string {
    return told(this.#source)
  }
  toJSON(): string {
    return told(this.#source)
  }
  [inspect.custom](): string {
    return told(this.#source)
  }
}

const FORM = /^(.{0,64}?)secret:\/\/(env|file|command|keychain)\/([^\s?#]+)$/s

export function isSecretReference(text: string): boolean {
  return text.includes('secret://')
}

/** What is wrong with a reference, in words; undefined: nothing. */
export function secretProblem(text: string): string | undefined {
  try {
    void new SecretReference(text, '/')
    return undefined
  } catch (fault) {
    return fault instanceof TypeError ? fault.message : 'a reference that cannot be read'
  }
}

type Source =
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string }
  /** Program and arguments; there is no shell. */
  | { readonly kind: 'command'; readonly argv: readonly string[] }
  | { readonly kind: 'keychain'; readonly service: string; readonly account: string }

function sourceOf(kind: string, parts: readonly string[]): Source {
  switch (kind) {
    case 'env':
      if (parts.length !== 1 || !/^[A-Za-z_]\w*$/.test(parts[0]!)) throw new TypeError('expected secret://env/NAME')
      return { kind, name: parts[0]! }
    case 'file':
      return { kind, path: parts.join('/') }
    case 'command':
      return { kind, argv: parts }
    default:
      if (parts.length !== 2) throw new TypeError('expected secret://keychain/SERVICE/ACCOUNT')
      return { kind: 'keychain', service: parts[0]!, account: parts[1]! }
  }
}

async function read(source: Source, folder: string): Promise<string> {
  switch (source.kind) {
    case 'env':
      return process.env[source.name] ?? ''
    case 'file': {
      const path = resolve(folder, source.path)
      const found = await stat(path)
      if (!found.isFile() || found.size > MOST_BYTES) throw new Error(`${told(source)} is no small file`)
      if ((found.mode & 0o077) !== 0) throw new Error(`${told(source)} can be read by others; chmod 600 it`)
      return withoutLineEnd(await readFile(path, 'utf8'))
    }
    case 'command':
      return run(source.argv, told(source), folder)
    case 'keychain':
      return run(keychain(source), told(source), folder)
    default:
      return source satisfies never
  }
}

function keychain({ service, account }: Extract<Source, { kind: 'keychain' }>): readonly string[] {
  return process.platform === 'darwin'
    ? ['security', 'find-generic-password', '-w', '-s', service, '-a', account]
    : ['secret-tool', 'lookup', 'service', service, 'account', account]
}

// What the program says of a failure may hold anything, and is not shown.
function run(argv: readonly string[], name: string, cwd: string): Promise<string> {
  return new Promise((done, fail) => {
    const options = {
      cwd,
      timeout: WITHIN_MS,
      maxBuffer: MOST_BYTES,
      killSignal: 'SIGKILL',
      windowsHide: true,
    } as const
    execFile(argv[0]!, argv.slice(1), options, (fault, stdout) => {
      if (fault === null) done(withoutLineEnd(stdout))
      else fail(new Error(`${name} gave nothing (${typeof fault.code === 'string' ? fault.code : 'it failed'})`))
    })
  })
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '')
}

function told(source: Source): string {
  switch (source.kind) {
    case 'env':
      return `secret://env/${source.name}`
    case 'file':
      return `secret://file/${source.path}`
    case 'command':
      return `secret://command/${source.argv[0]}/…`
    case 'keychain':
      return `secret://keychain/${source.service}/…`
    default:
      return source satisfies never
  }
}
