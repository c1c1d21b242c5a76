/** A text of a client's file, taken apart: what it says, and what the client would have put in. */
export type Part =
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: string; readonly otherwise?: string }
  /** Asked of a person, and kept by the client. */
  | { readonly kind: 'input'; readonly id: string }
  | { readonly kind: 'strange'; readonly text: string }

export interface Places {
  readonly userHome: string
  /** Folder that the client takes to be the workspace. */
  readonly workspace: string
}

/** How a client writes variables. What comes out of one is never looked at again. */
export type Syntax = (text: string, places: Places) => readonly Part[]

/** Claude Desktop, Codex, Zed, goose, Windsurf, Cline: `${X}` is what it says. */
export const plainText: Syntax = (text) => [{ kind: 'literal', text }]

/** Claude Code: `${NAME}` and `${NAME:-default}`; a bare `$NAME` and other shell forms are text. */
export const braces: Syntax = (text) =>
  split(text, /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g, ([, name, otherwise]) => variable(name!, otherwise))

/** Gemini CLI: also `$NAME`. */
export const shellLike: Syntax = (text) =>
  split(text, /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}|\$([A-Za-z_]\w*)/g, ([, name, otherwise, bare]) =>
    variable((name ?? bare)!, otherwise),
  )

/** OpenCode: `{env:NAME}`. */
export const envBraces: Syntax = (text) =>
  split(text, /\{(env|file):([^}]*)\}/g, ([whole, kind, name]) =>
    kind === 'env' && /^[A-Za-z_]\w*$/.test(name!) ? variable(name!) : { kind: 'strange', text: whole },
  )

/** VS Code and Cursor: `${env:NAME}`, `${input:id}`, `${workspaceFolder}` and the like. */
export const editorVariables: Syntax = (text, { userHome, workspace }) =>
  split(text, /\$\{([^}]*)\}/g, ([whole, inside]): Part => {
    const literal = { userHome, workspaceFolder: workspace, workspaceFolderBasename: workspace.split('/').at(-1)! }
    if (Object.hasOwn(literal, inside!)) return { kind: 'literal', text: literal[inside as keyof typeof literal] }
    if (inside === 'pathSeparator' || inside === '/') return { kind: 'literal', text: '/' }
    const [, kind, name] = /^(env|input):(.+)$/.exec(inside!) ?? []
    if (kind === 'env' && /^[A-Za-z_]\w*$/.test(name!)) return variable(name!)
    return kind === 'input' ? { kind: 'input', id: name! } : { kind: 'strange', text: whole }
  })

function variable(name: string, otherwise?: string): Part {
  return { kind: 'variable', name, ...(otherwise === undefined ? {} : { otherwise }) }
}

function split(text: string, form: RegExp, read: (match: RegExpExecArray) => Part): readonly Part[] {
  const parts: Part[] = []
  let from = 0
  for (const match of text.matchAll(form)) {
    if (match.index > from) parts.push({ kind: 'literal', text: text.slice(from, match.index) })
    parts.push(read(match))
    from = match.index + match[0].length
  }
  if (from < text.length || parts.length === 0) parts.push({ kind: 'literal', text: text.slice(from) })
  return parts
}
