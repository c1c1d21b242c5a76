import { fileURLToPath } from 'node:url'
import { homedir } from 'node:os'
import { resolve } from 'node:path'
import type { Client, Surroundings } from '../config/import/client.ts'
import { clients } from '../config/import/clients.ts'
import type { Plan, Planned, PlanOptions } from '../config/import/plan.ts'
import { nearest } from '../config/nearest.ts'
import { homeFolder } from '../gateway/home.ts'
import type { JsonObject } from '../words/json.ts'
import { isJsonObject } from '../words/json.ts'
import type { Context, GlobalOptions } from './context.ts'
import { UsageFault } from './fault.ts'
import type { Io } from './io.ts'
import { plain } from './render/width.ts'
import { starterConfig } from './starter.ts'

const launcher = fileURLToPath(new URL('../../bin/countersign.mjs', import.meta.url))

export function clientNamed(name: string): Client {
  const client = clients.find((it) => it.name === name)
  if (client !== undefined) return client
  const names = clients.map((it) => it.name)
  const meant = nearest(name, names)
  throw new UsageFault(
    `there is no client \`${plain(name)}\``,
    meant === undefined ? `Known: ${names.join(', ')}.` : `Did you mean \`${meant}\`?`,
  )
}

export function surroundings(): Surroundings {
  return { userHome: homedir(), folder: process.cwd(), platform: process.platform, environment: process.env }
}

export function planOptions(
  context: Context,
  globals: GlobalOptions,
  client: Client,
  file: string | undefined,
): PlanOptions {
  const config = context.configFile() ?? resolve('countersign.yaml')
  const home = homeFolder(globals.home, config)!
  return {
    client,
    file,
    here: surroundings(),
    config,
    starter: () => starterConfig(undefined),
    home,
    // The Node that runs this is new enough; the one on the PATH of the client may not be.
    launcher: { command: process.execPath, args: [launcher, 'stdio', '--config', config, '--home', home] },
  }
}

/** What a person has to see before saying yes: names of secrets, and never a value. */
export function planLines(
  plan: Pick<Plan, 'client' | 'file' | 'servers' | 'left' | 'notes'>,
  io: Pick<Io, 'paint'>,
): string[] {
  const lines = [`${plan.client.title}: ${plan.file}`]
  for (const planned of plan.servers) lines.push(...plannedLines(planned, io))
  for (const { name, why } of plan.left) lines.push(`  ${io.paint('yellow', 'stays')}  ${plain(name)}: ${plain(why)}`)
  for (const note of plan.notes) lines.push(`  note   ${plain(note)}`)
  return lines
}

function plannedLines({ from, name, server, moved, missing, known }: Planned, io: Pick<Io, 'paint'>): string[] {
  const called = from === name ? plain(name) : `${plain(name)} (${plain(from)} there)`
  return [
    `  ${io.paint('green', 'moves')}  ${called}: ${known ? 'in the configuration already' : serverLine(server)}`,
    ...moved.map((key) => `         ${key}: its value goes into a file that only you can read`),
    ...missing.map((it) => `         ${it.name}: write its value into ${it.file} (mode 0600)`),
  ]
}

/** Command and arguments, or the URL, each as it will be used, and the names of variables or headers. */
export function serverLine(server: JsonObject): string {
  const { command, args, url, env, headers, cwd } = server
  const words = typeof command === 'string' ? [command, ...(Array.isArray(args) ? (args as string[]) : [])] : []
  const names = Object.keys(isJsonObject(env) ? env : isJsonObject(headers) ? headers : {})
  return [
    typeof url === 'string' ? plain(url) : words.map(quoted).join(' '),
    typeof cwd === 'string' ? `in ${plain(cwd)}` : '',
    names.length === 0 ? '' : `${isJsonObject(env) ? 'variables' : 'headers'} ${names.map(plain).join(', ')}`,
  ]
    .filter((part) => part !== '')
    .join('; ')
}

function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)
}
