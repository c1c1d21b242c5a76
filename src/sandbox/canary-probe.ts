// Runs as a program of its own, inside a sandbox or, as a control, outside of one: tries what a hostile server would, and
// says on standard output what it got hold of.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Baits } from './canaries.ts'

const baits = JSON.parse(process.argv[2]!) as Baits

function got(attempt: () => unknown): boolean {
  try {
    return attempt() !== false
  } catch {
    return false
  }
}

function reached(to: { readonly port: number; readonly host: string } | { readonly path: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(to)
    socket.setTimeout(1_000, () => socket.destroy())
    socket.once('connect', () => resolve(true))
    socket.once('close', () => resolve(false))
    socket.once('error', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })
}

const answers = {
  read: got(() => readFileSync(baits.secret, 'utf8') !== ''),
  write: got(() => writeFileSync(baits.written, 'escaped')),
  system: got(() => writeFileSync(baits.system, 'escaped')),
  environment: process.env[baits.variable] !== undefined,
  connect: await reached({ host: '127.0.0.1', port: baits.port }),
  socket: await reached({ path: baits.socket }),
  kill: got(() => process.kill(baits.pid, 0)),
  processes: got(() => readdirSync('/proc').includes(String(baits.pid))),
}
process.stdout.write(JSON.stringify(answers))
