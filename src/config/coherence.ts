import type { ConfigDocument, Path } from './document.ts'
import type { ConfigProblem } from './fault.ts'
import { nearest } from './nearest.ts'
import type { ConfigText } from './schema.ts'

/** Ids that mean somebody already. */
const reserved: ReadonlyMap<string, string> = new Map([
  ['countersign', 'Countersign itself'],
  ['local', 'the person who owns the home'],
])

/** What no part of the file can tell by itself: names that must be unique, and names that must exist. */
export function incoherences(config: ConfigText, document: ConfigDocument): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const say = (path: Path, message: string, hint?: string) => problems.push(document.problem(path, message, hint))

  const unique = (names: readonly string[], where: (n: number) => Path) => {
    const seen = new Set<string>()
    for (const [n, name] of names.entries()) {
      if (seen.has(name)) say(where(n), `\`${name}\` is there twice`)
      seen.add(name)
    }
  }
  unique(
    config.principals.map((it) => it.id),
    (n) => ['principals', n, 'id'],
  )
  unique(
    config.consent.rules.map((it) => it.name),
    (n) => ['consent', 'rules', n, 'name'],
  )
  unique(
    config.budgets.map((it) => it.name),
    (n) => ['budgets', n, 'name'],
  )
  for (const [n, { id }] of config.principals.entries())
    if (reserved.has(id)) say(['principals', n, 'id'], `\`${id}\` is ${reserved.get(id) ?? ''}`)

  for (const [server, { tools, asks }] of Object.entries(config.servers)) {
    if (asks.sampling === 'host' && config.sampling === undefined)
      say(['servers', server, 'asks', 'sampling'], '`host` needs a model under `sampling`')
    for (const [n, root] of asks.roots.entries()) {
      if (!Object.hasOwn(config.roots, root))
        say(
          ['servers', server, 'asks', 'roots', n],
          `no root is called \`${root}\``,
          suggestion(root, Object.keys(config.roots)),
        )
    }
    for (const [tool, profile] of Object.entries(tools)) {
      const at: Path = ['servers', server, 'tools', tool]
      for (const [n, { base }] of profile.scopes.entries()) {
        if (base !== undefined && !Object.hasOwn(config.roots, base))
          say(
            [...at, 'scopes', n, 'base'],
            `no root is called \`${base}\``,
            suggestion(base, Object.keys(config.roots)),
          )
      }
      if (profile.upstreamKey?.in === 'header' && config.servers[server]?.url === undefined)
        say([...at, 'upstreamKey', 'in'], 'a program has no headers; use `meta` or `argument`')
      if (profile.verify !== undefined)
        checkReadBack(config, profile.verify.tool, 'read', (message, hint) =>
          say([...at, 'verify', 'tool'], message, hint),
        )
      const ways = profile.reconcile === undefined ? [] : [profile.reconcile].flat()
      for (const [n, way] of ways.entries()) {
        const place: Path = Array.isArray(profile.reconcile) ? [...at, 'reconcile', n] : [...at, 'reconcile']
        const by = 'by' in way ? way.by : 'read-back'
        if (by === 'task') continue
        checkReadBack(config, way.tool, by === 'cancel' ? 'idempotent' : 'read', (message, hint) =>
          say([...place, 'tool'], message, hint),
        )
        if (!/"\$(argument|operation)"/.test(JSON.stringify([way.arguments, way.expect])))
          say([...place, 'expect'], 'nothing in it is bound to the call: it would find the effect of any other call')
        if (by === 'listing' && 'items' in way && way.items === undefined)
          say(place, 'a listing needs `items`, the pointer to its entries')
      }
      const undo = profile.compensate?.tool
      if (undo !== undefined) {
        const cut = undo.indexOf('/')
        const found = config.servers[undo.slice(0, cut)]?.tools[undo.slice(cut + 1)]
        if (found?.verify === undefined)
          say(
            [...at, 'compensate', 'tool'],
            `\`${undo}\` needs a profile with \`verify\`, or nobody could say that it undid anything`,
          )
      }
    }
  }
  return problems
}

function checkReadBack(
  config: ConfigText,
  named: string,
  effect: 'read' | 'idempotent',
  say: (message: string, hint?: string) => void,
): void {
  const cut = named.indexOf('/')
  const [server, tool] = [named.slice(0, cut), named.slice(cut + 1)]
  if (!Object.hasOwn(config.servers, server)) {
    say(`no server is called \`${server}\``, suggestion(server, Object.keys(config.servers)))
    return
  }
  const tools = config.servers[server]!.tools
  if (!Object.hasOwn(tools, tool))
    say(
      `\`${named}\` has no profile, so it is not known to be ${effect === 'read' ? 'a read' : effect}`,
      suggestion(tool, Object.keys(tools)),
    )
  else if (tools[tool]!.effect !== effect)
    say(
      `\`${named}\` is declared \`${tools[tool]!.effect}\`; ${effect === 'read' ? 'a read-back must be a `read`' : 'what takes a call back must be `idempotent`'}`,
    )
}

function suggestion(word: string, known: readonly string[]): string | undefined {
  const meant = nearest(word, known)
  if (meant !== undefined) return `Did you mean \`${meant}\`?`
  return known.length === 0 ? undefined : `Known: ${known.join(', ')}.`
}
