// One job by plain calls and by a program: read a long document from one server, write a record for each open entry to another.
// What a model would be shown is counted, not asked: the calls are those that either way needs. Tokens are o200k, an estimate for
// models of other makers. Run: node --conditions=countersign-source bench/own/code.ts [--rows N] [--json]
import { parseArgs } from 'node:util'
import { Server } from '@modelcontextprotocol/server'
import { createCountersign, memoryPair } from 'countersign'
import { encode } from 'gpt-tokenizer/encoding/o200k_base'

export interface Way {
  readonly name: 'plain calls' | 'code mode'
  readonly tokens: number
  readonly calls: number
  readonly wallMs: number
  readonly cpuMs: number
  readonly written: number
}

const consent = [{ name: 'all', decision: 'allow', channels: [], selfApproval: false, expiresMs: 60_000 }] as const
const signal = AbortSignal.timeout(120_000)
const tokensOf = (value: unknown): number => encode(JSON.stringify(value)).length

/** Both ways over a document of that many entries, every tenth of them open. */
export async function compare(rows: number): Promise<readonly Way[]> {
  const entries = Array.from({ length: rows }, (_, n) => ({
    id: n,
    state: n % 10 === 0 ? 'open' : 'closed',
    text: `Entry ${n}. `.repeat(12),
  }))
  return [await plain(entries), await program(entries)]
}

type Entries = readonly { readonly id: number; readonly state: string; readonly text: string }[]

async function place(entries: Entries) {
  const written = new Set<unknown>()
  const serverOf = (name: string, tool: string, answer: (given: unknown) => object) => async () => {
    const server = new Server({ name, version: '1' }, { capabilities: { tools: {} } })
    server.setRequestHandler(
      'tools/list',
      () => ({ tools: [{ name: tool, description: `${tool} of ${name}.`, inputSchema: { type: 'object' } }] }) as never,
    )
    server.setRequestHandler('tools/call', ({ params }) => ({
      content: [{ type: 'text', text: JSON.stringify(answer(params.arguments)) }],
    }))
    const [ours, theirs] = memoryPair()
    await server.connect(theirs)
    return ours
  }
  const add = (given: unknown): object => {
    written.add((given as { id: unknown }).id)
    return { ok: true }
  }
  const sign = await createCountersign({
    servers: {
      document: { open: serverOf('document', 'read', () => entries), tools: { read: { effect: 'read', risk: 'low' } } },
      records: { open: serverOf('records', 'add', add), tools: { add: { effect: 'once', risk: 'low' } } },
    },
    policy: 'permit (principal, action, resource);',
    consent,
  })
  for (const tool of sign.pending()) await sign.approve(tool, 'bench')
  return { sign, written }
}

async function timed(
  name: Way['name'],
  entries: Entries,
  work: (sign: Awaited<ReturnType<typeof place>>['sign']) => Promise<{ tokens: number; calls: number }>,
): Promise<Way> {
  const { sign, written } = await place(entries)
  const [wall, cpu] = [performance.now(), process.cpuUsage()]
  const done = await work(sign)
  const used = process.cpuUsage(cpu)
  const way = {
    name,
    ...done,
    wallMs: performance.now() - wall,
    cpuMs: (used.user + used.system) / 1000,
    written: written.size,
  }
  await sign.close()
  return way
}

/** Each result goes through the model: it is shown the tools, the document, and what each record came to. */
function plain(entries: Entries): Promise<Way> {
  return timed('plain calls', entries, async (sign) => {
    const toolbox = sign.toolbox('all')
    let tokens = tokensOf(await toolbox.offers(signal))
    let calls = 0
    const call = async (exported: string, given: object): Promise<void> => {
      calls++
      const answer = await toolbox.call(
        { exported, argumentsText: JSON.stringify(given), callId: String(calls), conversation: 'c' },
        signal,
      )
      tokens += tokensOf({ exported, given }) + tokensOf(answer.kind === 'result' ? answer.value : answer)
    }
    await call('document__read', {})
    for (const { id, state, text } of entries) if (state === 'open') await call('records__add', { id, text })
    return { tokens, calls }
  })
}

const PROGRAM = `const entries = JSON.parse(await servers.document.read({}))
const open = entries.filter(({ state }) => state === 'open')
for (const { id, text } of open) await servers.records.add({ id, text })
return open.length`

/** The model is shown two tools, reads two files of functions, and writes one program. */
function program(entries: Entries): Promise<Way> {
  return timed('code mode', entries, async (sign) => {
    const toolbox = sign.toolbox('code')
    let tokens = tokensOf(await toolbox.offers(signal))
    const call = async (exported: string, given: object): Promise<string> => {
      const answer = await toolbox.call(
        { exported, argumentsText: JSON.stringify(given), callId: '1', conversation: 'c' },
        signal,
      )
      tokens += tokensOf({ exported, given }) + tokensOf(answer.kind === 'result' ? answer.value : answer)
      return JSON.stringify(answer)
    }
    for (const path of ['servers/document/read.ts', 'servers/records/add.ts'])
      await call('countersign__files', { path })
    const said = await call('countersign__program', { program: PROGRAM })
    return { tokens, calls: Number(/(\d+) calls; run/.exec(said)?.[1] ?? 0) }
  })
}

if (import.meta.main) {
  const { values } = parseArgs({
    options: { rows: { type: 'string', default: '500' }, json: { type: 'boolean', default: false } },
  })
  const ways = await compare(Number(values.rows))
  if (values.json) console.log(JSON.stringify(ways))
  else {
    for (const { name, tokens, calls, wallMs, cpuMs, written } of ways)
      console.log(
        `${name}: ${tokens} tokens (o200k), ${calls} calls, ${wallMs.toFixed(0)} ms, ${cpuMs.toFixed(0)} ms of CPU, ${written} records written`,
      )
  }
}
