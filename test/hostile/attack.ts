import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Answer } from '../../src/flow/index.ts'
import { loadConfig } from '../../src/config/load.ts'
import { type RunningGateway, startGateway } from '../../src/gateway/build.ts'
import { ownHome } from '../../src/gateway/ownership.ts'
import type { JsonObject } from '../../src/words/json.ts'
import { onHttp, type FixtureName, type RunningFixture } from '../fixtures/servers/reach.ts'
import { approveOffered, openGateway, type Site } from '../fixtures/site.ts'

export const patient = (): AbortSignal => AbortSignal.timeout(30_000)

export interface Wanted {
  readonly requestKey?: string
  readonly signal?: AbortSignal
}

/** One governed call by the owner of the home: `server/tool`. */
export function call(
  gateway: RunningGateway,
  tool: string,
  given: JsonObject,
  { requestKey, signal = patient() }: Wanted = {},
): Promise<Answer> {
  const slash = tool.indexOf('/')
  const target = { server: tool.slice(0, slash), name: tool.slice(slash + 1) }
  const key = requestKey === undefined ? {} : { requestKey }
  return gateway.control.call({ target, arguments: JSON.stringify(given), door: 'cli', ...key }, signal)
}

/** `answered:succeeded`, `unknown`, or the code of the refusal. */
export function wordFor(answer: Answer): string {
  switch (answer.kind) {
    case 'answered':
      return `answered:${answer.state}`
    case 'upstream-error':
      return `error:${answer.state}`
    case 'refused':
      return answer.code
    case 'unknown':
    case 'asked':
      return answer.kind
    default:
      return answer satisfies never
  }
}

export function operationOf(answer: Answer): string {
  const operation = 'operation' in answer ? answer.operation : undefined
  if (operation === undefined) throw new Error(`no operation: ${JSON.stringify(answer)}`)
  return operation
}

export async function stateOf(gateway: RunningGateway, operation: string): Promise<string> {
  return (await gateway.control.operation(operation))?.state ?? 'no such operation'
}

export function effectsIn(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
}

export function tokenOf(site: Site): string {
  return readFileSync(`${site.home}/token`, 'utf8').trim()
}

export async function until(what: string, holds: () => boolean | Promise<boolean>, withinMs = 10_000): Promise<void> {
  for (const end = Date.now() + withinMs; !(await holds()); await new Promise((resolve) => setTimeout(resolve, 10)))
    if (Date.now() > end) throw new Error(`never: ${what}`)
}

export async function openApproved(
  t: TestContext,
  site: Site,
  options: Parameters<typeof openGateway>[2] = {},
): Promise<RunningGateway> {
  const gateway = await openGateway(t, site, options)
  await approveOffered(gateway)
  return gateway
}

/** A fixture over HTTP that ends with the test. */
export async function httpFixture(t: TestContext, name: FixtureName, ...args: string[]): Promise<RunningFixture> {
  const running = await onHttp(name, ...args)
  t.after(() => running[Symbol.asyncDispose]())
  return running
}

export function scratch(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-hostile-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }))
  return folder
}

export interface Stoppable {
  readonly gateway: RunningGateway
  stop(): Promise<void>
}

/** A gateway that the test itself stops and starts again. */
export async function start(
  t: TestContext,
  site: Site,
  options: Parameters<typeof openGateway>[2] = {},
): Promise<Stoppable> {
  const home = ownHome(site.home)
  let gateway: RunningGateway
  try {
    gateway = await startGateway(loadConfig(site.config), home, { port: 0, background: true, ...options })
  } catch (fault) {
    home.release()
    throw fault
  }
  const stop = async (): Promise<void> => {
    await gateway.close()
    home.release()
  }
  t.after(stop)
  await gateway.core.settled
  return { gateway, stop }
}
