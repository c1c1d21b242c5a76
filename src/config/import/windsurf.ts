import { join } from 'node:path'
import { textMember } from '../../words/json.ts'
import { type Client, commandOrUrl, plainEndpoint } from './client.ts'
import { plainText } from './syntax.ts'

export const windsurf: Client = {
  name: 'windsurf',
  title: 'Windsurf',
  format: 'jsonc',
  root: 'mcpServers',
  otherRoots: ['servers', 'mcp', 'context_servers'],
  syntax: plainText,
  files: ({ userHome }) => [join(userHome, '.codeium', 'windsurf', 'mcp_config.json')],
  base: (_file, { folder }) => folder,
  read: (entry) => {
    const url = textMember(entry, 'serverUrl')
    return commandOrUrl(url === undefined ? entry : { ...entry, url })
  },
  endpoint: plainEndpoint,
}
