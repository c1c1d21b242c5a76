import { basename } from 'node:path'

interface Interpreter {
  /** Switches that take code. One letter also counts inside of a group (`-lc`), and with its code behind it (`-e1`). */
  readonly letters: string
  readonly words: readonly string[]
  /** Switches whose value is an argument of its own. */
  readonly valued: readonly string[]
}

const shell: Interpreter = { letters: 'c', words: ['--command'], valued: ['-o', '-O', '--rcfile', '--init-file'] }
const node: Interpreter = {
  letters: 'ep',
  words: ['--eval', '--print'],
  valued: ['-r', '--require', '--import', '--loader', '--experimental-loader', '-C', '--conditions', '--env-file'],
}
const python: Interpreter = { letters: 'c', words: [], valued: ['-W', '-X'] }
const runner: Interpreter = { letters: 'c', words: ['--call'], valued: ['-p', '--package'] }

const interpreters: readonly (readonly [RegExp, Interpreter])[] = [
  [/^(ba|z|da|k|fi|a|c|tc)?sh$/, shell],
  [
    /^(pwsh|powershell)(\.exe)?$/i,
    { letters: '', words: ['-c', '-Command', '-EncodedCommand', '-enc', '-ec'], valued: [] },
  ],
  [/^cmd(\.exe)?$/i, { letters: '', words: ['/c', '/k', '/C', '/K'], valued: [] }],
  [/^(node|nodejs|bun|tsx|ts-node)(\.exe)?$/, node],
  [/^deno$/, { letters: '', words: ['eval', 'repl'], valued: [] }],
  [/^(python|pypy)[\d.]*(\.exe)?$/, python],
  [/^(ruby|perl|lua|osascript)[\d.]*$/, { letters: 'eE', words: [], valued: ['-I', '-l'] }],
  [/^php[\d.]*$/, { letters: 'rBRE', words: ['--run'], valued: ['-d', '-c'] }],
  [/^(npx|bunx|pnpx|npm|pnpm)$/, runner],
]
const wrappers =
  /^(env|nohup|nice|ionice|timeout|time|sudo|doas|setsid|stdbuf|xargs|npx|bunx|pnpx|npm|pnpm|uvx|uv|flatpak)$/

/**
 * The switch by which a command would run code that stands in its own arguments; undefined where none does. Such a
 * program is whatever its arguments say, so that approving the program would approve nothing (CVE-2026-44450).
 */
export function inlineCodeSwitch(command: string, args: readonly string[]): string | undefined {
  const words = [command, ...args]
  const all = wrappers.test(basename(command))
  for (const [n, word] of words.entries()) {
    if (n > 0 && !all) break
    const found = interpreters.find(([form]) => form.test(basename(word)))
    const used = found && switchIn(found[1], words.slice(n + 1))
    if (used !== undefined) return `${basename(word)} ${used}`
  }
  return undefined
}

function switchIn({ letters, words, valued }: Interpreter, args: readonly string[]): string | undefined {
  for (let n = 0; n < args.length; n++) {
    const arg = args[n]!
    if (words.includes(arg) || words.some((word) => arg.startsWith(`${word}=`))) return arg.split('=')[0]
    // A module whose text is its own address is code in an argument too.
    if (/^(--\w[\w-]*=)?data:/.test(arg)) return arg.slice(0, arg.indexOf(':') + 1)
    if (valued.includes(arg)) {
      if (args[n + 1]?.startsWith('data:') === true) return `${arg} data:`
      n++
    } else if (!arg.startsWith('-') || arg === '--' || arg === '-') return undefined
    else if (!arg.startsWith('--') && new RegExp(`^-[A-Za-z]*[${letters || '\u0000'}]`).test(arg))
      return arg.slice(0, 8)
  }
  return undefined
}
