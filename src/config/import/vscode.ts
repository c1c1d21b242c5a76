import { dirname, join } from 'node:path'
import { type Client, commandOrUrl } from './client.ts'
import { editorVariables } from './syntax.ts'

/** `.vscode/mcp.json` of the workspace, else the profile of the user. JSON with comments. */
export const vscode: Client = {
  name: 'vscode',
  title: 'VS Code',
  format: 'jsonc',
  root: 'servers',
  otherRoots: ['mcpServers', 'mcp', 'context_servers'],
  syntax: editorVariables,
  files: ({ folder, userHome, platform, environment }) => {
    const folders: Partial<Record<NodeJS.Platform, string>> = {
      darwin: join(userHome, 'Library', 'Application Support'),
      win32: environment['APPDATA'] ?? join(userHome, 'AppData', 'Roaming'),
    }
    const user = folders[platform] ?? join(userHome, '.config')
    return [join(folder, '.vscode', 'mcp.json'), join(user, 'Code', 'User', 'mcp.json')]
  },
  base: (file, { folder }) => (dirname(file).endsWith('.vscode') ? dirname(dirname(file)) : folder),
  read: commandOrUrl,
  endpoint: (command, args) => ({ type: 'stdio', command, args: [...args] }),
}
