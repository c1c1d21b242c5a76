import type { ExposureConfig } from '../config/config.ts'
import type { ToolSearch } from '../mcp/catalogue/search/tool-search.ts'
import type { CodeDoor, Exposure } from '../mcp/downstream/exposed.ts'

/** Decides by principal, then by what the client calls itself, then by the rule for all. */
export function exposureOf(
  { mode, tokens, clients, principals }: ExposureConfig,
  search: ToolSearch,
  code: CodeDoor,
): Exposure {
  return {
    search,
    code,
    modeOf: ({ id }, { name }, bytes) => {
      const wanted = principals.get(id) ?? clients.get(name) ?? mode
      if (wanted !== 'auto') return wanted
      return bytes / 4 > tokens ? 'search' : 'all'
    },
  }
}
