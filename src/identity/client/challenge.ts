/** A challenge of RFC 9110 §11.6.1 that names a scheme we have tokens for. */
export interface Challenge {
  readonly scheme: 'bearer' | 'dpop'
  readonly error: string | undefined
  /** As it was sent: scopes separated by spaces. */
  readonly scope: string | undefined
  readonly resourceMetadata: string | undefined
}

const LONGEST = 8192
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"
const parameter = new RegExp(`\\s*(${TOKEN})\\s*=\\s*(?:"((?:[^"\\\\]|\\\\.)*)"|(${TOKEN}))\\s*(?:,|$)`, 'y')
const start = new RegExp(`[\\s,]*(${TOKEN})(?:\\s+|(?=,)|$)`, 'y')
const token68 = /[A-Za-z0-9._~+/-]+=*\s*(?:,|$)/y

/** The first Bearer or DPoP challenge in the header, or in several of them. What is not well-formed is no challenge. */
export function challengeOf(header: string | readonly string[] | undefined): Challenge | undefined {
  const text = typeof header === 'string' ? header : header?.join(', ')
  if (text === undefined || text.length > LONGEST) return undefined
  for (let at = 0; at < text.length;) {
    start.lastIndex = at
    const scheme = start.exec(text)?.[1]?.toLowerCase()
    if (scheme === undefined) return undefined
    at = start.lastIndex
    const parameters = new Map<string, string>()
    for (;;) {
      parameter.lastIndex = at
      const found = parameter.exec(text)
      if (found === null) break
      const [, name, quoted, plain] = found
      // The first counts; a second one of a name would be a reader's choice.
      if (!parameters.has(name!.toLowerCase()))
        parameters.set(name!.toLowerCase(), plain ?? quoted!.replaceAll(/\\(.)/g, '$1'))
      at = parameter.lastIndex
    }
    if (scheme === 'bearer' || scheme === 'dpop')
      return {
        scheme,
        error: parameters.get('error'),
        scope: parameters.get('scope'),
        resourceMetadata: parameters.get('resource_metadata'),
      }
    if (parameters.size === 0) {
      token68.lastIndex = at
      if (token68.test(text)) at = token68.lastIndex
    }
  }
  return undefined
}
