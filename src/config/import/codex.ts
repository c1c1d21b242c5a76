import { join } from 'node:path'
import { isJsonObject, textMember } from '../../words/json.ts'
import { type Client, commandOrUrl, isTexts, Left, plainEndpoint, remote, textsOf } from './client.ts'
import { plainText } from './syntax.ts'

/** TOML, and variables by name (`env_vars`, `bearer_token_env_var`, `env_http_headers`) instead of in texts. */
export const codex: Client = {
  name: 'codex',
  title: 'Codex',
  format: 'toml',
  root: 'mcp_servers',
  otherRoots: ['mcpServers'],
  syntax: plainText,
  files: ({ userHome, environment }) => [join(environment['CODEX_HOME'] ?? join(userHome, '.codex'), 'config.toml')],
  base: (_file, { folder }) => folder,
  read: (entry) => {
    const url = textMember(entry, 'url')
    if (url === undefined || entry['command'] !== undefined || entry['enabled'] === false) {
      const read = commandOrUrl(entry)
      if (read instanceof Left) return read
      const listed = entry['env_vars'] ?? []
      const named = Array.isArray(listed) ? listed.map((it) => (isJsonObject(it) ? it['name'] : it)) : listed
      return isTexts(named) ? { ...read, envNames: named } : new Left('`env_vars` is not a list of names')
    }
    const read = remote(url, entry['http_headers'])
    const named = textsOf(entry['env_http_headers'])
    if (read instanceof Left) return read
    if (named === undefined) return new Left('`env_http_headers` is not a map of names to names')
    const bearer = textMember(entry, 'bearer_token_env_var')
    const envHeaders = Object.entries(named).map(([header, name]) => [header, { before: '', name }] as const)
    return {
      ...read,
      envHeaders: {
        ...Object.fromEntries(envHeaders),
        ...(bearer === undefined ? {} : { Authorization: { before: 'Bearer ', name: bearer } }),
      },
    }
  },
  endpoint: plainEndpoint,
}
