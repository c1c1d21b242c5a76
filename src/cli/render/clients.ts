import { fileURLToPath } from 'node:url'

const launcher = fileURLToPath(new URL('../../../bin/countersign.mjs', import.meta.url))

export interface Reach {
  readonly config: string
  readonly home: string
  readonly url: string
  readonly tokenFile: string
}

/** The command that makes a client's stdio server of us, wherever it is started from and whatever its PATH. */
function stdioCommand({ config, home }: Reach): { readonly command: string; readonly args: readonly string[] } {
  return { command: process.execPath, args: [launcher, 'stdio', '--config', config, '--home', home] }
}

/** How to point the usual clients at a gateway. None of the lines holds the token itself. */
export function clientLines(reach: Reach): string[] {
  const { command, args } = stdioCommand(reach)
  const spawned = JSON.stringify({ command, args })
  return [
    'Point a client at it:',
    `  Claude Code  claude mcp add countersign -- ${[command, ...args].map(quoted).join(' ')}`,
    `  VS Code      code --add-mcp ${quoted(JSON.stringify({ name: 'countersign', command, args }))}`,
    `  Cursor       in ~/.cursor/mcp.json: {"mcpServers":{"countersign":${spawned}}}`,
    `  by HTTP      ${reach.url}   with "Authorization: Bearer" and the token in ${reach.tokenFile}`,
  ]
}

// POSIX shell quoting (XCU 2.2.2): between single quotes everything stands for itself.
function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}
