import { exits } from './exits.ts'
import { main } from './program.ts'

const interrupted = new AbortController()
process.on('SIGINT', () => {
  // The second Ctrl-C does not wait for anything any more.
  if (interrupted.signal.aborted) process.exit(exits.interrupted)
  interrupted.abort()
})
// Whoever reads our output may stop reading: `countersign … | head`.
process.stdout.on('error', (fault: NodeJS.ErrnoException) => {
  if (fault.code !== 'EPIPE') throw fault
  process.exit(exits.done)
})

process.exitCode = await main(process.argv.slice(2), interrupted.signal)
