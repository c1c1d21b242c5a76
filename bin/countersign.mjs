#!/usr/bin/env node
// Plain JavaScript that any Node can parse: an old runtime must get a sentence here, not a syntax error further in.
import { existsSync } from 'node:fs'
import module from 'node:module'

const needed = 24
if (Number(process.versions.node.split('.')[0]) < needed) {
  process.stderr.write(
    `countersign needs Node ${needed} or newer, and this is ${process.version}. ` +
      'Run it through npm in a checkout (npm start, npm run countersign -- …), which brings its own Node, ' +
      'or install Node 24 and try again.\n',
  )
  process.exit(1)
}
// npm changes into the folder of its package: what the command names, and what it makes, belongs where it was typed.
const { npm_lifecycle_event: script, INIT_CWD: typedIn } = process.env
if (script === 'countersign' && typedIn !== undefined && existsSync(typedIn)) {
  process.chdir(typedIn)
  // What is started from here has a folder of its own.
  delete process.env.INIT_CWD
}
// What was stripped and compiled once is not done again: the commands start in half the time.
module.enableCompileCache?.()
const source = new URL('../src/cli/bin.ts', import.meta.url)
await import(existsSync(source) ? source.href : new URL('../dist/cli/bin.js', import.meta.url).href)
