import { textMember } from '../../words/json.ts'
import { dirname, join } from 'node:path'
import { type Client, Left, plainEndpoint, program, remote } from './client.ts'
import { braces } from './syntax.ts'

/** `.mcp.json` of the project, else `mcpServers` of the user's own file. Strict JSON. */
export const claudeCode: Client = {
  name: 'claude-code',
  title: 'Claude Code',
  format: 'json',
  root: 'mcpServers',
  otherRoots: ['servers', 'mcp', 'context_servers'],
  syntax: braces,
  files: ({ folder, userHome }) => [join(folder, '.mcp.json'), join(userHome, '.claude.json')],
  base: (file, { folder }) => (file.endsWith('.claude.json') ? folder : dirname(file)),
  read: (entry) => {
    const type = textMember(entry, 'type') ?? 'stdio'
    if (entry['headersHelper'] !== undefined) return new Left('its headers come from a program (`headersHelper`)')
    const url = textMember(entry, 'url')
    if (url === undefined) return program(entry)
    if (type !== 'http' && type !== 'sse')
      return new Left(`a URL with type ${type} is nothing that it would connect to`)
    return remote(url, entry['headers'])
  },
  endpoint: plainEndpoint,
}
