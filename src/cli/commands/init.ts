import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { homeFolder, makeHome } from '../../gateway/home.ts'
import type { Context, GlobalOptions } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import { makePolicy } from '../place.ts'
import type { Declare } from '../program.ts'
import { starterConfig } from '../starter.ts'

const installedSchema = 'node_modules/countersign/schema/countersign.schema.json'

export const declare: Declare = (program, act) =>
  program
    .command('init')
    .description(
      'Make a configuration, a policy and a home in this folder. What is there already stays as it is.\n\n' +
        'Examples:\n  countersign init\n  countersign init --config agent/countersign.yaml',
    )
    .action(act((context) => Promise.resolve(init(context, program.opts<GlobalOptions>()))))

function init({ io }: Context, globals: GlobalOptions): Exit {
  const file = resolve(globals.config ?? 'countersign.yaml')
  const folder = dirname(file)
  const policy = join(folder, 'policy')
  const home = homeFolder(globals.home, file)!
  const made: string[] = []
  const write = (path: string, text: string) => {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text, { flag: 'wx' })
    made.push(path)
  }
  if (!existsSync(file))
    write(file, starterConfig(existsSync(join(folder, installedSchema)) ? `./${installedSchema}` : undefined))
  const written = makePolicy(file)
  if (written !== undefined) made.push(written)
  if (!existsSync(home)) made.push(home)
  const { tokenFile } = makeHome(home)
  if (io.json) io.outJson({ made, config: file, policy, home, tokenFile })
  else {
    for (const path of made) io.out(`made ${path}`)
    if (made.length === 0) io.out('Everything is there already; nothing was changed.')
    io.note(
      `The token for HTTP clients is in ${tokenFile}.\nNext: add a server to ${file}, then run \`countersign up\`.`,
    )
  }
  return exits.done
}
