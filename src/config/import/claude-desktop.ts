import { join } from 'node:path'
import { type Client, Left, plainEndpoint, program } from './client.ts'
import { plainText } from './syntax.ts'

/** Programs only, from the user's home, and no variables. Strict JSON. */
export const claudeDesktop: Client = {
  name: 'claude-desktop',
  title: 'Claude Desktop',
  format: 'json',
  root: 'mcpServers',
  otherRoots: ['servers', 'mcp', 'context_servers'],
  syntax: plainText,
  files: ({ userHome, platform, environment }) => {
    const folders: Partial<Record<NodeJS.Platform, string>> = {
      darwin: join(userHome, 'Library', 'Application Support'),
      win32: environment['APPDATA'] ?? join(userHome, 'AppData', 'Roaming'),
    }
    const folder = folders[platform] ?? environment['XDG_CONFIG_HOME'] ?? join(userHome, '.config')
    return [join(folder, 'Claude', 'claude_desktop_config.json')]
  },
  base: (_file, { userHome }) => userHome,
  read: (entry) => (entry['command'] === undefined ? new Left('Claude Desktop starts programs only') : program(entry)),
  endpoint: plainEndpoint,
}
