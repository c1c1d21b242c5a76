import { join } from 'node:path'
import { textMember } from '../../words/json.ts'
import { type Client, isTexts, Left, program, remote } from './client.ts'
import { plainText } from './syntax.ts'

/** `extensions` in YAML, with its own words (`cmd`, `envs`, `uri`). What is built into goose stays there. */
export const goose: Client = {
  name: 'goose',
  title: 'goose',
  format: 'yaml',
  root: 'extensions',
  otherRoots: ['mcpServers', 'servers'],
  syntax: plainText,
  files: ({ userHome, environment }) => [
    join(environment['XDG_CONFIG_HOME'] ?? join(userHome, '.config'), 'goose', 'config.yaml'),
  ],
  base: (_file, { folder }) => folder,
  read: (entry) => {
    const type = textMember(entry, 'type')
    if (type !== 'stdio' && type !== 'streamable_http') return new Left(`${type ?? 'it'} is a part of goose itself`)
    if (entry['enabled'] === false) return new Left('it is switched off')
    const keys = entry['env_keys'] ?? []
    if (!isTexts(keys)) return new Left('`env_keys` is not a list of names')
    if (keys.length > 0)
      return new Left(`its secrets (${keys.join(', ')}) lie in the keyring of goose; add it with \`server add\``)
    if (type === 'streamable_http') return remote(textMember(entry, 'uri') ?? '', entry['headers'])
    return program({ command: entry['cmd'] ?? null, args: entry['args'] ?? [], env: entry['envs'] ?? {} })
  },
  endpoint: (command, args) => ({
    type: 'stdio',
    name: 'countersign',
    description: 'MCP tools behind Countersign',
    enabled: true,
    cmd: command,
    args: [...args],
    envs: {},
    timeout: 300,
  }),
}
