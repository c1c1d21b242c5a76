import { exits } from '../exits.ts'
import type { Declare } from '../program.ts'
import { version } from '../../gateway/version.ts'

export const declare: Declare = (program, act) =>
  program
    .command('version')
    .description('Print the version of Countersign, and of the Node that runs it.')
    .action(
      act(({ io }) => {
        if (io.json) io.outJson({ version, node: process.version, platform: `${process.platform}-${process.arch}` })
        else io.out(`countersign ${version} (Node ${process.version}, ${process.platform}-${process.arch})`)
        return Promise.resolve(exits.done)
      }),
    )
