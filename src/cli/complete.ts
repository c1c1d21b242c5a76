import type { Command } from 'commander'
import type { Context } from './context.ts'
import { plain } from './render/width.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

export interface Suggestion {
  readonly word: string
  readonly says: string
}

const WITHIN_MS = 1_500
const MOST = 500

/** What may stand in place of the last of these words. Names of servers, tools and the like come from a gateway that runs. */
export async function suggestions(
  program: Command,
  words: readonly string[],
  context: Pick<Context, 'attach' | 'signal'>,
): Promise<readonly Suggestion[]> {
  const typed = words.at(-1) ?? ''
  let command = program
  const path: string[] = []
  for (const word of words.slice(0, -1)) {
    const next = command.commands.find((it) => it.name() === word)
    if (next === undefined) continue
    command = next
    path.push(word)
  }
  const options = [...command.options, ...program.options].map((it) => ({ word: it.long ?? '', says: it.description }))
  const subcommands = command.commands.map((it) => ({ word: it.name(), says: it.summary() || it.description() }))
  const offered = typed.startsWith('-')
    ? options
    : command.commands.length > 0
      ? subcommands
      : [...fixed(path), ...(await named(path, context))]
  return offered
    .filter(({ word }) => word !== '' && word.startsWith(typed))
    .slice(0, MOST)
    .map(({ word, says }) => ({ word: plain(word), says: plain(says.split('\n')[0] ?? '') }))
}

function fixed(path: readonly string[]): readonly Suggestion[] {
  const at = path.join(' ')
  const words =
    at === 'completion'
      ? shells
      : at === 'connect' || at === 'disconnect' || at === 'server import'
        ? 'claude-code claude-desktop vscode cursor codex gemini zed goose opencode windsurf cline'.split(' ')
        : []
  return words.map((word) => ({ word, says: '' }))
}

/** Nothing is started for a completion, and it never takes long. */
async function named(
  path: readonly string[],
  { attach, signal }: Pick<Context, 'attach' | 'signal'>,
): Promise<readonly Suggestion[]> {
  const [noun, verb] = path
  try {
    const work = (async (): Promise<readonly Suggestion[]> => {
      const { client } = await attach({ start: false })
      if (noun === 'call' || noun === 'check' || noun === 'tool')
        return (await client.tools({})).map((it) => ({ word: `${it.server}/${it.name}`, says: it.state }))
      if (noun === 'server') return (await client.servers()).map((it) => ({ word: it.name, says: it.state }))
      if (noun === 'approval')
        return (await client.approvals(verb === 'show' ? {} : { state: 'waiting' })).map((it) => ({
          word: it.id,
          says: it.tool,
        }))
      if (noun === 'operation') return (await client.operations({})).map((it) => ({ word: it.id, says: it.tool }))
      return []
    })()
    const late = new Promise<readonly Suggestion[]>((done) => {
      const timer = setTimeout(() => done([]), WITHIN_MS)
      signal.addEventListener('abort', () => clearTimeout(timer), { once: true })
      timer.unref()
    })
    return await Promise.race([work, late])
  } catch {
    // A completion that complains on the prompt helps nobody.
    return []
  }
}

const bash = `_countersign() {
  local IFS=$'\\n' line
  COMPREPLY=()
  while IFS= read -r line; do
    COMPREPLY+=("\${line%%$'\\t'*}")
  done < <(countersign completion suggest -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _countersign countersign
`

const zsh = `#compdef countersign
_countersign() {
  local -a found
  local line
  while IFS= read -r line; do
    found+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(countersign completion suggest -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe countersign found
}
compdef _countersign countersign
`

const fish = `function __countersign
  set -l typed (commandline -opc) (commandline -ct)
  countersign completion suggest -- $typed[2..-1] 2>/dev/null
end
complete -c countersign -f -a '(__countersign)'
`

export function completionScript(shell: Shell): string {
  return { bash, zsh, fish }[shell]
}
