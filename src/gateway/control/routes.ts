import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { type Context, Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { streamSSE } from 'hono/streaming'
import { contractHeader, contractVersion, type FaultView, routes } from '../../api/contract.ts'
import { toolRefSchema } from '../../api/catalogue.ts'
import { refusals } from '../../words/refusals.ts'
import type { Refusal } from '../../words/verdict.ts'
import type { Home } from '../home.ts'
import type { Activity, Control } from './control.ts'
import { listenPrivately } from './listen.ts'
import { refusalView, reportBytes } from './views.ts'

/** JSON text of a call: its arguments are a text in it, whose every character may take six bytes. */
const mostBodyBytes = 16 * 1024 * 1024
const aliveMs = 15_000
const exportChunkChars = 65_536

const faultStatus = { BAD_REQUEST: 400, NOT_FOUND: 404, TOO_LARGE: 413, STOPPING: 503, INTERNAL: 500 } as const

/** The API as a web-standard application; what it is served on is the caller's business. */
function controlApp(control: Control, onFault: (fault: unknown, where: string) => void): Hono {
  const app = new Hono()
  app.use(async (c, next) => {
    await next()
    c.header(contractHeader, contractVersion)
    c.header('cache-control', 'no-store')
  })
  app.use(
    bodyLimit({
      maxSize: mostBodyBytes,
      onError: (c) => fault(c, 'TOO_LARGE', `a body of more than ${mostBodyBytes} bytes`),
    }),
  )
  app.notFound((c) => fault(c, 'NOT_FOUND', `there is no ${c.req.method} ${c.req.path}`))
  app.onError((error, c) => {
    if (error instanceof BadRequest) return fault(c, 'BAD_REQUEST', error.message)
    onFault(error, `${c.req.method} ${c.req.routePath}`)
    return fault(c, 'INTERNAL', error.message, 'Look at the log of the gateway, and run `countersign doctor`.')
  })

  app.get(routes.status.path, async (c) => c.json(await control.status()))
  app.get(routes.servers.path, async (c) => c.json({ servers: await control.servers() }))
  app.get(routes.server.path, async (c) => found(c, await control.server(c.req.param('server'))))
  app.post(routes.beginLogin.path, async (c) =>
    found(c, await control.beginLogin(c.req.param('server'), await bodyOf(c, routes.beginLogin))),
  )
  app.post(routes.finishLogin.path, async (c) =>
    found(c, await control.finishLogin(c.req.param('login'), await bodyOf(c, routes.finishLogin))),
  )
  app.post(routes.logout.path, async (c) => found(c, await control.logout(c.req.param('server'))))

  app.get(routes.tools.path, async (c) => c.json({ tools: await control.tools(queryOf(c, routes.tools)) }))
  app.get(routes.searchTools.path, async (c) =>
    c.json(await control.searchTools(queryOf(c, routes.searchTools), c.req.raw.signal)),
  )
  app.get(routes.tool.path, async (c) => found(c, await control.tool(toolRef(c.req.param()))))
  app.post(routes.approveTool.path, async (c) =>
    found(c, await control.approveTool(toolRef(c.req.param()), await bodyOf(c, routes.approveTool))),
  )
  app.post(routes.quarantineTool.path, async (c) => {
    const { why } = await bodyOf(c, routes.quarantineTool)
    return found(c, await control.quarantineTool(toolRef(c.req.param()), why))
  })
  app.get(routes.offers.path, async (c) => c.json({ offers: await control.offers() }))

  app.post(routes.call.path, async (c) => {
    const answer = await control.call(await bodyOf(c, routes.call), c.req.raw.signal)
    return c.body(new Uint8Array(reportBytes(answer)), 200, { 'content-type': 'application/json' })
  })
  app.post(routes.check.path, async (c) => c.json(await control.check(await bodyOf(c, routes.check), c.req.raw.signal)))

  app.get(routes.approvals.path, async (c) =>
    c.json({ approvals: await control.approvals(queryOf(c, routes.approvals)) }),
  )
  app.get(routes.watchApprovals.path, (c) => watch(c, control))
  app.get(routes.approval.path, async (c) => found(c, await control.approval(c.req.param('id'))))
  app.post(routes.decideApproval.path, async (c) =>
    found(c, await control.decideApproval(c.req.param('id'), await bodyOf(c, routes.decideApproval))),
  )

  app.get(routes.operations.path, async (c) =>
    c.json({ operations: await control.operations(queryOf(c, routes.operations)) }),
  )
  app.get(routes.operation.path, async (c) => found(c, await control.operation(c.req.param('id'))))
  app.post(routes.decideOperation.path, async (c) =>
    found(c, await control.decideOperation(c.req.param('id'), await bodyOf(c, routes.decideOperation))),
  )
  app.post(routes.compensateOperation.path, async (c) =>
    found(c, await control.compensateOperation(c.req.param('id'), c.req.raw.signal)),
  )
  app.post(routes.reconcileOperation.path, async (c) =>
    found(c, await control.reconcileOperation(c.req.param('id'), c.req.raw.signal)),
  )

  app.get(routes.budgets.path, async (c) => c.json({ budgets: await control.budgets() }))
  app.get(routes.evidence.path, async (c) => c.json({ records: await control.evidence(queryOf(c, routes.evidence)) }))
  app.get(routes.exportEvidence.path, (c) => {
    const lines = ReadableStream.from(
      chunks(control.exportEvidence(queryOf(c, routes.exportEvidence), c.req.raw.signal)),
    )
    return c.body(lines, 200, { 'content-type': 'application/x-ndjson' })
  })
  app.post(routes.rotateKey.path, async (c) => c.json(await control.rotateKey()))
  app.post(routes.eraseSubject.path, async (c) =>
    found(c, await control.eraseSubject(await bodyOf(c, routes.eraseSubject))),
  )
  app.post(routes.verifyEvidence.path, async (c) => c.json(await control.verifyEvidence()))
  app.post(routes.checkPolicy.path, async (c) => c.json(await control.checkPolicy()))
  app.post(routes.reloadConfig.path, async (c) =>
    c.json(await control.reloadConfig(await bodyOf(c, routes.reloadConfig))),
  )
  app.post(routes.stop.path, (c) => {
    control.stop()
    return c.json({ stopping: true }, 202)
  })
  return app
}

export interface ControlServer {
  activity(): Activity
  /** Takes no more requests, and cuts those that are open. Idempotent. */
  close(): Promise<void>
}

/** Serves the API on the control socket of an owned home. */
export async function serveControl(
  control: Control,
  home: Pick<Home, 'controlSocket'>,
  onFault: (fault: unknown, where: string) => void,
): Promise<ControlServer> {
  const answer = getRequestListener(controlApp(control, onFault).fetch, { overrideGlobalObjects: false })
  let running = 0
  let begun = 0
  const server = createServer((request, response) => {
    running++
    begun++
    response.once('close', () => running--)
    answer(request, response).catch((error: unknown) => {
      onFault(error, 'control')
      response.destroy()
    })
  })
  server.maxConnections = 256
  await listenPrivately(server, home.controlSocket)
  let closed: Promise<void> | undefined
  return {
    activity: () => ({ running, begun }),
    close: () =>
      (closed ??= new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })),
  }
}

class BadRequest extends Error {}

type Parser<Output> = {
  safeParse(
    input: unknown,
  ):
    | { success: true; data: Output }
    | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } }
}

function queryOf<Output>(c: Context, { query }: { query: Parser<Output> }): Output {
  return parsed(query, c.req.query(), 'query')
}

async function bodyOf<Output>(c: Context, { body }: { body: Parser<Output> }): Promise<Output> {
  let value: unknown
  try {
    value = JSON.parse(await c.req.text())
  } catch (error) {
    throw new BadRequest('the body is not JSON', { cause: error })
  }
  return parsed(body, value, 'body')
}

function toolRef(parameters: Record<string, string>) {
  return parsed(toolRefSchema, parameters, 'path')
}

function parsed<Output>(schema: Parser<Output>, value: unknown, where: string): Output {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw new BadRequest(`${where}: ${[...(issue?.path ?? [])].join('.')}: ${issue?.message ?? 'not of the right form'}`)
}

function found(c: Context, value: object | undefined) {
  if (value === undefined) return fault(c, 'NOT_FOUND', 'there is nothing of that name here')
  if (isRefusal(value)) return c.json(refusalView(value), refusals[value.code].http)
  return c.json(value)
}

function isRefusal(value: object): value is Refusal {
  return 'kind' in value && value.kind === 'refuse'
}

function fault(c: Context, code: FaultView['code'], message: string, hint?: string) {
  const view: FaultView = { kind: 'fault', code, message, ...(hint === undefined ? {} : { hint }) }
  return c.json(view, faultStatus[code])
}

function watch(c: Context, control: Control) {
  const { channel } = queryOf(c, routes.watchApprovals)
  return streamSSE(c, async (stream) => {
    const gone = new AbortController()
    stream.onAbort(() => gone.abort())
    // A silent stream and a dead one look alike to the reader.
    const alive = setInterval(() => void stream.write(': alive\n\n'), aliveMs)
    try {
      await stream.write(': watching\n\n')
      for await (const approval of control.watchApprovals(channel, gone.signal))
        await stream.writeSSE({ event: 'approval', data: JSON.stringify(approval) })
    } finally {
      clearInterval(alive)
    }
  })
}

async function* chunks(lines: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = ''
  for await (const line of lines) {
    text += `${line}\n`
    if (text.length < exportChunkChars) continue
    yield Buffer.from(text)
    text = ''
  }
  if (text !== '') yield Buffer.from(text)
}
