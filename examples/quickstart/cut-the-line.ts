// Runs an MCP server over stdio and passes every line through. A call of TOOL whose arguments mention `cut-the-line` reaches
// the server and is done there, but its answer is never passed on: the line goes dead instead, as a network or a crash would
// do it. It is how the tour shows an outcome that nobody knows.
//
//   node cut-the-line.ts TOOL SERVER.js [ARGUMENT...]
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

const [tool, server, ...args] = process.argv.slice(2)
if (server === undefined) {
  process.stderr.write('usage: cut-the-line.ts TOOL SERVER.js [ARGUMENT...]\n')
  process.exit(2)
}
const child = spawn(process.execPath, [server, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
const doomed = new Set<unknown>()

createInterface({ input: process.stdin, crlfDelay: Infinity })
  .on('line', (line) => {
    if (line.includes(`"${tool}"`) && line.includes('cut-the-line')) doomed.add(idOf(line))
    child.stdin.write(`${line}\n`)
  })
  .on('close', () => child.stdin.end())

createInterface({ input: child.stdout, crlfDelay: Infinity }).on('line', (line) => {
  if (doomed.has(idOf(line))) {
    child.kill('SIGKILL')
    process.exit(1)
  }
  process.stdout.write(`${line}\n`)
})

child.on('exit', (code) => process.exit(code ?? 1))

function idOf(line: string): unknown {
  try {
    const message = JSON.parse(line) as { id?: unknown }
    return message.id ?? {}
  } catch {
    return {}
  }
}
