import { dirname, join } from 'node:path'
import { type Client, commandOrUrl, Left, plainEndpoint } from './client.ts'
import { editorVariables } from './syntax.ts'

export const cursor: Client = {
  name: 'cursor',
  title: 'Cursor',
  format: 'jsonc',
  root: 'mcpServers',
  otherRoots: ['servers', 'mcp', 'context_servers'],
  syntax: editorVariables,
  files: ({ folder, userHome }) => [join(folder, '.cursor', 'mcp.json'), join(userHome, '.cursor', 'mcp.json')],
  base: (file, { folder }) => (dirname(file).endsWith('.cursor') ? dirname(dirname(file)) : folder),
  read: (entry) =>
    entry['auth'] === undefined ? commandOrUrl(entry) : new Left('it logs in (`auth`); see servers.NAME.auth'),
  endpoint: plainEndpoint,
}
