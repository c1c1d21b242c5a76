import { declarationOf } from '../mcp/catalogue/search/declaration.ts'
import type { ToolOffer } from '../model/toolbox.ts'

/** The tools that a principal may call, as files of a TypeScript API. Made of the offers, which are filtered already. */
export interface ApiTree {
  /** By server, as an identifier; the functions in it, and the name under which each tool is offered. */
  readonly servers: ReadonlyMap<string, ReadonlyMap<string, ToolOffer>>
  /** Text of a folder or a file; undefined where there is none. */
  read(path: string): string | undefined
}

const ROOT = `// Functions by server: await servers.SERVER.TOOL({ … }). Read a file to see what it takes.`

/** The same offers in whatever order make the same bytes. */
export function apiTree(offers: readonly ToolOffer[]): ApiTree {
  const servers = new Map<string, Map<string, ToolOffer>>()
  for (const offer of offers.toSorted((one, other) => (one.exported < other.exported ? -1 : 1))) {
    const server = identifier(offer.server)
    const own = offer.exported.startsWith(`${offer.server}__`)
      ? offer.exported.slice(offer.server.length + 2)
      : offer.exported
    const functions = servers.get(server) ?? new Map<string, ToolOffer>()
    servers.set(server, functions)
    functions.set(free(identifier(own), functions), offer)
  }
  return {
    servers,
    read: (path) => {
      const parts = path.split('/').filter((part) => part !== '' && part !== '.')
      if (parts[0] === 'servers') parts.shift()
      const [server, file, ...rest] = parts
      if (rest.length > 0) return undefined
      if (server === undefined) {
        const lines = [...servers].map(([name, functions]) => `servers/${name}/  ${functions.size} functions`)
        return [ROOT, ...lines].join('\n')
      }
      const functions = servers.get(server)
      if (functions === undefined) return undefined
      if (file === undefined) return [...functions.keys()].map((name) => `servers/${server}/${name}.ts`).join('\n')
      const name = file.replace(/\.(?:d\.)?ts$/, '')
      const offer = functions.get(name)
      return offer && fileOf(name, offer)
    },
  }
}

function fileOf(name: string, { description, inputSchema }: ToolOffer): string {
  const said = description.replaceAll('*/', '* /').trim()
  return [
    ...(said === '' ? [] : [`/**\n * ${said.replaceAll('\n', '\n * ')}\n */`]),
    `export function ${declarationOf({ name, description: '', inputSchema })}: Promise<Result>`,
    `// Result: structured content where the tool has some; else the text of its answer, or the whole MCP result.`,
    `// Whole schema of its argument: ${JSON.stringify(inputSchema)}`,
  ].join('\n')
}

function identifier(name: string): string {
  const plain = name.replace(/[^A-Za-z0-9_$]/g, '_')
  return /^[A-Za-z_$]/.test(plain) ? plain : `_${plain}`
}

function free(name: string, taken: ReadonlyMap<string, unknown>): string {
  if (!taken.has(name)) return name
  let n = 2
  while (taken.has(`${name}_${n}`)) n++
  return `${name}_${n}`
}
