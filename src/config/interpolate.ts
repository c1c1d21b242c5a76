export type Environment = { readonly [name: string]: string | undefined }

export type Interpolated =
  | { readonly kind: 'plain'; readonly text: string }
  | { readonly kind: 'filled'; readonly text: string; readonly names: readonly string[] }
  | { readonly kind: 'wrong'; readonly message: string; readonly hint: string }

const reference = /\$\$\{|\$\{(?:([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\})?/g

/**
 * Puts `${NAME}` and `${NAME:-default}` in. One pass: what comes out of a variable is never looked at again, so its value
 * cannot name another one. The default stands in for a variable that is unset or empty. `$${` is a plain `${`.
 */
export function interpolate(text: string, environment: Environment): Interpolated {
  if (!text.includes('${')) return { kind: 'plain', text }
  const names: string[] = []
  let wrong: { message: string; hint: string } | undefined
  const filled = text.replaceAll(reference, (match, name: string | undefined, otherwise: string | undefined) => {
    if (match === '$${') return '${'
    if (name === undefined) {
      wrong ??= {
        message: 'a `${` that is no variable reference',
        hint: 'Write ${NAME} or ${NAME:-default}; for a plain `${` write `$${`.',
      }
      return match
    }
    names.push(name)
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined
    if (otherwise !== undefined) return value === undefined || value === '' ? otherwise : value
    if (value === undefined) {
      wrong ??= {
        message: `the environment variable ${name} is not set`,
        hint: `Set ${name}, or write \${${name}:-default}.`,
      }
    }
    return value ?? ''
  })
  if (wrong !== undefined) return { kind: 'wrong', ...wrong }
  return names.length === 0 ? { kind: 'plain', text: filled } : { kind: 'filled', text: filled, names }
}

const secretWords = new Set([
  'TOKEN',
  'SECRET',
  'PASSWORD',
  'PASSWD',
  'PASSPHRASE',
  'KEY',
  'APIKEY',
  'CREDENTIAL',
  'CREDENTIALS',
  'PAT',
])

/** Does the name itself say that the value is a secret? `GITHUB_TOKEN` and `x-api-key` do, `KEYBOARD` does not. */
export function namesSecret(name: string): boolean {
  return name
    .replaceAll(/([a-z])([A-Z])/g, '$1_$2')
    .toUpperCase()
    .split(/[^A-Z0-9]+/)
    .some((word) => secretWords.has(word))
}
