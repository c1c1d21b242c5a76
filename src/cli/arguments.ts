import { readFileSync } from 'node:fs'
import { UsageFault } from './fault.ts'

export interface ArgumentOptions {
  readonly arg?: readonly string[]
  readonly args?: string
}

export const argsOption = [
  '--args <json>',
  'the arguments as one JSON object; @FILE reads a file, - reads stdin',
] as const
export const argOption = ['--arg <name=value>', 'one argument: name=text, or name:=JSON (may be repeated)'] as const

export function collect(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, value]
}

/**
 * The arguments of a call as JSON text. It is handed on as it was typed and parsed strictly behind the gates, so that a
 * key that is there twice, or a number that loses digits, is found there and not hidden here.
 */
export function argumentsText({ arg = [], args }: ArgumentOptions): string {
  if (args !== undefined) {
    if (arg.length > 0) throw new UsageFault('--arg and --args cannot go together', 'Put all of it into --args.')
    return readText(args)
  }
  const members = new Map<string, string>()
  for (const given of arg) {
    const [, name, how, value] = /^([^=]*?)(:=|=)(.*)$/s.exec(given) ?? []
    if (name === undefined || name === '' || value === undefined)
      throw new UsageFault(`--arg ${given}: expected name=text or name:=JSON`)
    if (members.has(name)) throw new UsageFault(`--arg ${name} is given twice`, 'For a list write name:=[…].')
    members.set(name, how === '=' ? JSON.stringify(value) : jsonText(name, value))
  }
  return `{${Array.from(members, ([name, value]) => `${JSON.stringify(name)}:${value}`).join(',')}}`
}

function jsonText(name: string, value: string): string {
  try {
    JSON.parse(value)
    return value
  } catch {
    throw new UsageFault(`--arg ${name}:=…: the value is not JSON`, `For text write ${name}=…`)
  }
}

function readText(args: string): string {
  if (args === '-') return readFileSync(0, 'utf8')
  return args.startsWith('@') ? readFileSync(args.slice(1), 'utf8') : args
}

/** SERVER/TOOL by the upstream's own names, or the exported name SERVER__TOOL. */
export function targetOf(
  named: string,
): { readonly server: string; readonly name: string } | { readonly exported: string } {
  const cut = named.indexOf('/')
  if (cut < 0) return { exported: named }
  const [server, name] = [named.slice(0, cut), named.slice(cut + 1)]
  if (server === '' || name === '') throw new UsageFault(`${named}: expected SERVER/TOOL`)
  return { server, name }
}
