import type { Config, ServerConfig } from '../../config/config.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Declare } from '../program.ts'

export const declare: Declare = (program, act) => {
  const config = program
    .command('config')
    .description(
      'The configuration file.\n\nExamples:\n  countersign config validate\n  countersign config show --json',
    )
  config
    .command('show')
    .description('what is in force: defaults filled in, paths resolved, secrets left out')
    .action(act(show))
  config
    .command('validate')
    .description('say whether the file can be used; exit code 1 where not')
    .action(act(validate))
  return config
}

async function show(context: Context): Promise<Exit> {
  const config = await context.config()
  const shown = presentable(config)
  // YAML for people, since that is what they wrote; JSON is YAML for programs.
  if (context.io.json) context.io.outJson(shown)
  else {
    const { stringify } = await import('yaml')
    context.io.write(stringify(shown, { aliasDuplicateObjects: false, lineWidth: 120 }))
  }
  return exits.done
}

async function validate(context: Context): Promise<Exit> {
  const { file, servers } = await context.config()
  const tools = servers.reduce((sum, it) => sum + it.tools.size, 0)
  if (context.io.json) context.io.outJson({ valid: true, file, servers: servers.length, profiles: tools })
  else context.io.out(`${file}: fine (${servers.length} servers, ${tools} tool profiles).`)
  return exits.done
}

/** Plain data; a Secret prints itself as `[secret]`. */
function presentable({ servers, ...rest }: Config): object {
  return JSON.parse(
    JSON.stringify({ ...rest, servers: Object.fromEntries(servers.map((it) => [it.spec.name, serverOf(it)])) }),
  ) as object
}

function serverOf({ spec, tools, ...rest }: ServerConfig): object {
  const { reach, revisions, connectTimeoutMs } = spec
  return { ...reach, revisions, connectTimeoutMs, ...rest, tools: Object.fromEntries(tools) }
}
