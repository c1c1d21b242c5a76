import { type Pattern, linearPattern } from '../../flow/tool/schema-pattern.ts'

/** Characters of a template, of a URI that is compared with templates, and expressions in one. */
const TEMPLATE_LENGTH = 1_024
const URI_LENGTH = 2_048
const EXPRESSIONS = 32

/**
 * Tells whether a URI could be an expansion of the template, in time linear in both. RFC 6570: level 1 (`{name}`, which
 * never spans a `/`) and, of level 2, `{+name}`, which may. Undefined where the template uses more than that.
 */
export function uriMatcher(template: string): ((uri: string) => boolean) | undefined {
  if (template.length > TEMPLATE_LENGTH) return undefined
  const parts = template.split(/(\{[^{}]*\})/)
  if (parts.length > 2 * EXPRESSIONS + 1) return undefined
  let source = ''
  for (const part of parts) {
    const expression = /^\{(\+?)[A-Za-z0-9_.%]+\}$/.exec(part)
    if (expression !== null) source += expression[1] === '+' ? '[^\\s]+' : '[^\\s/?#]+'
    else if (/[{}]/.test(part)) return undefined
    else source += part.replaceAll(/[\\^$.*+?()[\]|]/g, String.raw`\$&`)
  }
  let pattern: Pattern
  try {
    pattern = linearPattern(`^${source}$`, '', () => {})
  } catch {
    return undefined
  }
  return (uri) => uri.length <= URI_LENGTH && pattern.test(uri)
}
