import { resolve } from 'node:path'
import type { Config, ServerConfig } from '../../config/config.ts'
import type { Context } from '../context.ts'
import { type Exit, exits } from '../exits.ts'
import type { Declare } from '../program.ts'
import { tableLines } from '../render/table.ts'

export const declare: Declare = (program, act) => {
  const config = program
    .command('config')
    .description(
      'The configuration file.\n\nExamples:\n  countersign config validate\n  countersign config show --origins\n  countersign config reload',
    )
  config
    .command('show')
    .description('what is in force: defaults filled in, paths resolved, secrets left out')
    .option('--origins', 'each value with where it comes from: the file and line, the environment, or the default')
    .action(act(show))
  config
    .command('reload')
    .description('put the changed file and policies into force in the gateway that runs, without ending it')
    .option('--yes', 'also where they may let through more than before')
    .action(act(reload))
  config
    .command('validate')
    .description('say whether the file can be used; exit code 1 where not')
    .action(act(validate))
  return config
}

async function show(context: Context, { origins }: { readonly origins?: boolean }): Promise<Exit> {
  if (origins === true) return showOrigins(context)
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

async function showOrigins({ io, ...context }: Context): Promise<Exit> {
  const { originsOf } = await import('../../config/origins.ts')
  const origins = originsOf(context.configFile() ?? resolve('countersign.yaml'), process.env)
  if (io.json) io.outJson({ values: origins })
  else
    for (const line of tableLines(
      ['KEY', 'VALUE', 'FROM'],
      origins.map((it) => [it.key, it.value, it.line === undefined ? it.from : `${it.from}, line ${it.line}`]),
      io,
    ))
      io.out(line)
  return exits.done
}

async function reload(context: Context, { yes }: { readonly yes?: boolean }): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach({ start: false })
  const report = await client.reloadConfig({ loosening: yes === true })
  const { state, changed, loosens, needsRestart, why } = report
  if (io.json) io.outJson(report)
  else {
    io.out(`${state}${why === undefined ? '' : `: ${why}`}`)
    if (changed.length > 0) io.out(`  changed: ${changed.join(', ')}`)
    if (loosens.length > 0) io.out(`  may let through more: ${loosens.join(', ')}`)
    if (needsRestart.length > 0) io.out(`  at the next start: ${needsRestart.join(', ')}`)
  }
  if (state === 'rejected') return exits.fault
  return state === 'held' ? exits.waiting : exits.done
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
