// A gateway that kills itself at a named point of the first call that reaches it: `node gateway.ts CONFIG HOME [POINT]`.
// Prints `ready` when it can be called. SIGKILL leaves nothing to tidy up, which is what a power cut or a crash does too.
import { loadConfig } from '../../src/config/load.ts'
import { startGateway } from '../../src/gateway/build.ts'
import { ownHome } from '../../src/gateway/ownership.ts'

const [config, folder, point] = process.argv.slice(2)
const home = ownHome(folder!)
const gateway = await startGateway(loadConfig(config!), home, {
  port: 0,
  background: true,
  ...(point === undefined
    ? {}
    : {
        at: (reached) => {
          if (reached === point) process.kill(process.pid, 'SIGKILL')
        },
      }),
})
await gateway.core.settled
process.stdout.write('ready\n')
process.on('SIGTERM', () => {
  void gateway.close().then(() => {
    home.release()
    process.exit(0)
  })
})
