import { join } from 'node:path'
import { isJsonObject } from '../../words/json.ts'
import { type Client, commandOrUrl, plainEndpoint } from './client.ts'
import { plainText } from './syntax.ts'

/** `context_servers` among all other settings. An older form nests the program under `command`. */
export const zed: Client = {
  name: 'zed',
  title: 'Zed',
  format: 'jsonc',
  root: 'context_servers',
  otherRoots: ['mcpServers', 'servers'],
  syntax: plainText,
  files: ({ userHome, environment }) => [
    join(environment['XDG_CONFIG_HOME'] ?? join(userHome, '.config'), 'zed', 'settings.json'),
  ],
  base: (_file, { folder }) => folder,
  read: (entry) => {
    const { command } = entry
    return isJsonObject(command)
      ? commandOrUrl({ ...entry, ...command, command: command['path'] ?? '' })
      : commandOrUrl(entry)
  },
  endpoint: plainEndpoint,
}
