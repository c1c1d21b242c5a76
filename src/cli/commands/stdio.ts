import { connect } from 'node:net'
import { ControlFault } from '../../gateway/control/fault.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Declare } from '../program.ts'

/** How long answers may still come after the client has said its last. */
const farewellMs = 60_000

export const declare: Declare = (program, act) =>
  program
    .command('stdio')
    .description(
      'Be an MCP server on stdin and stdout: what a client is configured to start.\n' +
        'All that are started for one home share its gateway; it is started where none runs.\n\n' +
        'Examples:\n  claude mcp add countersign -- countersign stdio --config /path/to/countersign.yaml',
    )
    .action(act(stdio))

async function stdio(context: Context): Promise<Exit> {
  const { home } = await context.attach()
  return passThrough(home.mcpSocket, context.signal)
}

/**
 * Bytes of stdin to the socket, bytes of the socket to stdout, nothing read and nothing changed. The end of stdin is
 * passed on, and the answers that still come are let through; the end of the socket is the end of us.
 */
function passThrough(path: string, signal: AbortSignal): Promise<Exit> {
  const { stdin, stdout } = process
  return new Promise((resolve, reject) => {
    const socket = connect({ path, allowHalfOpen: true })
    let said: 'all' | undefined
    let fault: Error | undefined
    const leave = () => socket.destroy()
    signal.addEventListener('abort', leave, { once: true })
    stdin.once('end', () => {
      said = 'all'
      // Unreferenced: it ends a wait, and is no reason for one.
      setTimeout(leave, farewellMs).unref()
    })
    stdin.pipe(socket)
    socket.pipe(stdout, { end: false })
    socket.once('error', (error) => (fault = error))
    socket.once('end', () => socket.end())
    socket.once('close', () => {
      signal.removeEventListener('abort', leave)
      stdin.unpipe(socket)
      // A pending read of stdin would keep the process alive.
      stdin.destroy()
      if (signal.aborted) resolve(exits.interrupted)
      else if (fault !== undefined)
        reject(new ControlFault('GATEWAY_LOST', `the connection to the gateway broke: ${fault.message}`))
      else if (said === undefined)
        reject(
          new ControlFault('GATEWAY_LOST', 'the gateway has ended', 'Start the client again; it starts a new one.'),
        )
      else resolve(exits.done)
    })
  })
}
