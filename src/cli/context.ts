import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { dirname, join, relative, resolve } from 'node:path'
import type { Config } from '../config/config.ts'
import type { Attached } from '../gateway/control/attach.ts'
import { homeFolder } from '../gateway/home.ts'
import { UsageFault } from './fault.ts'
import type { Io } from './io.ts'

export interface GlobalOptions {
  readonly config?: string
  readonly home?: string
  readonly json?: boolean
  readonly quiet?: boolean
  readonly color: boolean
}

/** What every command has at hand. Nothing is read or started before a command asks for it. */
export interface Context {
  readonly io: Io
  /** Aborts at the first Ctrl-C. */
  readonly signal: AbortSignal
  /** Absolute path of the configuration; undefined where none was named and none lies here. */
  configFile(): string | undefined
  config(): Promise<Config>
  /** Absolute path of the home. Throws a UsageFault where nothing says which. */
  home(): string
  /** The gateway of the home, started where none runs, unless `start` is false. */
  attach(options?: { readonly start?: boolean }): Promise<Attached>
}

export function contextOf(options: GlobalOptions, io: Io, signal: AbortSignal): Context {
  const configFile = () => findConfig(options.config)
  const home = () => {
    const folder = homeFolder(options.home, configFile())
    if (folder === undefined)
      throw new UsageFault(
        'there is no countersign.yaml here, and no home was named',
        'Run `countersign init`, or use --config FILE or --home DIR.',
      )
    return folder
  }
  return {
    io,
    signal,
    configFile,
    home,
    config: async () => {
      const { loadConfig } = await import('../config/load.ts')
      return loadConfig(configFile() ?? resolve('countersign.yaml'))
    },
    attach: async ({ start = true } = {}) => {
      const { attach } = await import('../gateway/control/attach.ts')
      const attached = await attach({ home: home(), config: configFile(), start, signal })
      if (attached.started) io.note('A gateway was started for this home; it ends after ten idle minutes.')
      return attached
    },
  }
}

/**
 * `--config`, or $COUNTERSIGN_CONFIG, or `countersign.yaml` in this folder. Folders above are not searched: whoever can
 * write there would choose what is started here. In a checkout of the project itself, its quick start.
 */
function findConfig(flag: string | undefined): string | undefined {
  const named = flag ?? process.env['COUNTERSIGN_CONFIG']
  if (named !== undefined && named !== '') return resolve(named)
  const here = resolve('countersign.yaml')
  if (existsSync(here)) return here
  const checkout = dirname(fileURLToPath(new URL('../../package.json', import.meta.url)))
  const quickstart = join(checkout, 'examples', 'quickstart', 'countersign.yaml')
  return isWithin(process.cwd(), checkout) && existsSync(quickstart) ? quickstart : undefined
}

function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path)
  return way === '' || (!way.startsWith('..') && !way.includes('node_modules'))
}
