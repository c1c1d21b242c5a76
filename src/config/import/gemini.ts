import { dirname, join } from 'node:path'
import { textMember } from '../../words/json.ts'
import { type Client, commandOrUrl, Left, plainEndpoint, remote } from './client.ts'
import { shellLike } from './syntax.ts'

/** `httpUrl` wins over `url`. Settings with comments. */
export const gemini: Client = {
  name: 'gemini',
  title: 'Gemini CLI',
  format: 'jsonc',
  root: 'mcpServers',
  otherRoots: ['servers', 'context_servers'],
  syntax: shellLike,
  files: ({ folder, userHome }) => [
    join(folder, '.gemini', 'settings.json'),
    join(userHome, '.gemini', 'settings.json'),
  ],
  base: (file, { folder }) => (dirname(file).endsWith('.gemini') ? dirname(dirname(file)) : folder),
  read: (entry) => {
    if (entry['authProviderType'] !== undefined) return new Left('it logs in (`authProviderType`)')
    const url = textMember(entry, 'httpUrl')
    return url === undefined ? commandOrUrl(entry) : remote(url, entry['headers'])
  },
  endpoint: plainEndpoint,
}
