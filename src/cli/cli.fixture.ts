import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { notedControl } from '../gateway/control/control.fixture.ts'
import type { Control } from '../gateway/control/control.ts'
import { serveControl } from '../gateway/control/routes.ts'
import { makeHome } from '../gateway/home.ts'

export const launcher = fileURLToPath(new URL('../../bin/countersign.mjs', import.meta.url))

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** A folder of its own, in which the command line is run as a person would run it. */
export function workshop() {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-cli-'))
  // Compiled code is kept between the many short processes of a test.
  const cache = join(tmpdir(), 'countersign-compile-cache')
  const environment = (own: Record<string, string>) => ({
    PATH: process.env['PATH'] ?? '',
    HOME: folder,
    NODE_COMPILE_CACHE: cache,
    ...own,
  })
  const start = (args: readonly string[], own: Record<string, string> = {}) =>
    spawn(process.execPath, [launcher, ...args], { cwd: folder, env: environment(own), stdio: 'pipe' })
  return {
    folder,
    start,
    run: async (
      args: readonly string[],
      { input = '', env = {} }: { input?: string; env?: Record<string, string> } = {},
    ): Promise<Ended> => {
      const child = start(args, env)
      child.stdin.end(input)
      const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
      return { code: code as number | null, stdout, stderr }
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  }
}

/** The same, with a gateway behind the control socket that answers what the test says. */
export async function workshopWith(own: Partial<Control> = {}) {
  const shop = workshop()
  const home = makeHome(join(shop.folder, '.countersign'))
  const control = notedControl(own)
  const server = await serveControl(control, home, () => {})
  return {
    ...shop,
    home,
    control,
    run: (args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}) =>
      shop.run(['--home', home.folder, ...args], options),
    [Symbol.asyncDispose]: async () => {
      await server.close()
      shop[Symbol.dispose]()
    },
  }
}
