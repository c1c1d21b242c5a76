import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inlineCodeSwitch } from './inline-code.ts'

const refused: readonly string[][] = [
  ['node', '-e', 'x'],
  ['/usr/bin/node', '--eval=x'],
  ['node', '-pe', 'x'],
  ['node', '--require', './a.js', '-e', 'x'],
  ['node', '--import', 'data:text/javascript,x'],
  ['bash', '-lc', 'x'],
  ['sh', '-c', 'x'],
  ['python3.12', '-Ic', 'x'],
  ['deno', 'eval', 'x'],
  ['perl', '-e', 'x'],
  ['ruby', '-e', 'x'],
  ['php', '-r', 'x'],
  ['npx', '-c', 'x'],
  ['npx', '-y', '--call=x'],
  ['env', 'A=1', 'bash', '-c', 'x'],
  ['timeout', '5', 'node', '-e', 'x'],
  ['powershell.exe', '-EncodedCommand', 'x'],
  ['cmd', '/c', 'x'],
]
const passed: readonly string[][] = [
  ['node', 'server.js', '-e', 'its own option'],
  ['node', '--env-file', '.env', 'server.js', '-c', 'file'],
  ['npx', '-y', '@modelcontextprotocol/server-filesystem', '.'],
  ['python3', '-m', 'server', '-c', 'file'],
  ['uvx', 'mcp-server-fetch'],
  ['docker', 'run', '-i', '-e', 'TOKEN', 'image'],
  ['deno', 'run', 'server.ts'],
  ['my-server', '-c', 'config.json'],
]

for (const [command, ...args] of refused)
  test(`${command} ${args.join(' ')}: code in an argument is found`, () => {
    assert.notEqual(inlineCodeSwitch(command!, args), undefined)
  })

for (const [command, ...args] of passed)
  test(`${command} ${args.join(' ')}: a program of its own passes`, () => {
    assert.equal(inlineCodeSwitch(command!, args), undefined)
  })
