import { join } from 'node:path'
import { isJsonObject } from '../../words/json.ts'
import { type Client, commandOrUrl, plainEndpoint } from './client.ts'
import { plainText } from './syntax.ts'

/** Flat, or nested under `transport`. */
export const cline: Client = {
  name: 'cline',
  title: 'Cline',
  format: 'jsonc',
  root: 'mcpServers',
  otherRoots: ['servers', 'mcp', 'context_servers'],
  syntax: plainText,
  files: ({ userHome, platform, environment }) => {
    const folders: Partial<Record<NodeJS.Platform, string>> = {
      darwin: join(userHome, 'Library', 'Application Support'),
      win32: environment['APPDATA'] ?? join(userHome, 'AppData', 'Roaming'),
    }
    const storage = join(folders[platform] ?? join(userHome, '.config'), 'Code', 'User', 'globalStorage')
    return [join(storage, 'saoudrizwan.claude-dev', 'settings', 'cline_mcp_settings.json')]
  },
  base: (_file, { folder }) => folder,
  read: (entry) => {
    const { transport } = entry
    return commandOrUrl(isJsonObject(transport) ? { ...entry, ...transport } : entry)
  },
  endpoint: plainEndpoint,
}
