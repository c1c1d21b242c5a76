import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Command } from 'commander'
import { exits } from './exits.ts'
import { commands } from './program.ts'

const page = readFileSync(new URL('../../docs/cli.md', import.meta.url), 'utf8')

/** Every command that does something, by its full name, with the options that are its own. */
async function leaves(): Promise<Map<string, readonly string[]>> {
  const program = new Command('countersign')
  const found = new Map<string, readonly string[]>()
  const walk = (command: Command, name: string): void => {
    if (command.commands.length > 0) for (const sub of command.commands) walk(sub, `${name} ${sub.name()}`)
    else
      found.set(
        name,
        command.options.map(({ long }) => long ?? '').filter((it) => it !== ''),
      )
  }
  for (const [name, entry] of Object.entries(commands))
    walk(
      (await entry.declare()).declare(program, () => async () => {}),
      name,
    )
  return found
}

test('docs/cli.md has one row per command, no more and no fewer, and each row names the options', async () => {
  const rows = new Map(
    [...page.matchAll(/^\| `countersign ([a-z]+(?: [a-z]+)?)[^`]*` \|(.*)$/gm)].map(([, name, row]) => [name!, row!]),
  )
  const known = await leaves()
  assert.deepEqual([...rows.keys()].toSorted(), [...known.keys()].toSorted())
  for (const [name, options] of known)
    for (const option of options) assert.ok(rows.get(name)!.includes(`\`${option}`), `${name} ${option}`)
})

test('docs/cli.md lists the exit codes, no more and no fewer', () => {
  const listed = [...page.matchAll(/^\| (\d+) \| (\w+) \|/gm)].map(([, code, name]) => [name!, Number(code)])
  assert.deepEqual(Object.fromEntries(listed), exits)
})
