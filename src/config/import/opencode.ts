import { dirname, join } from 'node:path'
import { textMember } from '../../words/json.ts'
import { type Client, isTexts, Left, program, remote } from './client.ts'
import { envBraces } from './syntax.ts'

/** `mcp`, where a command is a list with its arguments in it. */
export const opencode: Client = {
  name: 'opencode',
  title: 'OpenCode',
  format: 'jsonc',
  root: 'mcp',
  otherRoots: ['mcpServers', 'servers', 'context_servers'],
  syntax: envBraces,
  files: ({ folder, userHome, environment }) => [
    join(folder, 'opencode.json'),
    join(folder, 'opencode.jsonc'),
    join(environment['XDG_CONFIG_HOME'] ?? join(userHome, '.config'), 'opencode', 'opencode.json'),
  ],
  base: (file, { folder }) => (dirname(file).endsWith('opencode') ? folder : dirname(file)),
  read: (entry) => {
    if (entry['enabled'] === false) return new Left('it is switched off')
    if (textMember(entry, 'type') === 'remote') return remote(textMember(entry, 'url') ?? '', entry['headers'])
    const words = entry['command']
    if (!isTexts(words) || words.length === 0) return new Left('`command` is not a list of texts')
    return program({ command: words[0]!, args: words.slice(1), env: entry['environment'] ?? {} })
  },
  endpoint: (command, args) => ({ type: 'local', command: [command, ...args], enabled: true }),
}
