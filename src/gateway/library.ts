import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { codeToolbox, defaultCodeLimits, Journals, QuickJsExecutor } from '../code/index.ts'
import type { Config, ServerConfig } from '../config/config.ts'
import { parseConfig } from '../config/load.ts'
import type { Answer, Caller } from '../flow/answer.ts'
import type { Budget } from '../flow/budget/index.ts'
import type { Approval, ConsentRule } from '../flow/consent/consented.ts'
import type { Judgement } from '../flow/evidence/index.ts'
import { noGrant } from '../flow/receipt/ask-grant.ts'
import { type ToolProfile, undeclared } from '../flow/tool/profile.ts'
import type { SearchAnswer, Wish } from '../mcp/catalogue/search/tool-search.ts'
import { soughtOf } from '../mcp/catalogue/search/verbs.ts'
import type { MemoryEnd } from '../mcp/upstream/upstream.ts'
import {
  type AnthropicTool,
  type AnthropicToolResult,
  anthropicToolResult,
  type OpenAIFunctionCallOutput,
  openaiFunctionCallOutput,
  type OpenAIResponsesTool,
  type ReadCall,
  readAnthropicToolUse,
  readOpenAIFunctionCall,
  toAnthropicTools,
  toOpenAIResponsesTools,
} from '../model/projection/shapes.ts'
import { type Exposing, exposed } from '../model/exposure.ts'
import { type ToolAnswer, type Toolbox, type ToolOffer, toolAnswerOf } from '../model/toolbox.ts'
import { verifyLedger } from '../store/sqlite/verify.ts'
import { assemble, type Core } from './assemble.ts'
import { CatalogueDesk } from './catalogue-desk.ts'
import { makeHome } from './home.ts'
import { ownHome } from './ownership.ts'
import { localUser } from './principals.ts'
import { coreToolbox } from './toolbox.ts'

export interface LibraryServer {
  /** Connects the server to one end of `memoryPair()` and answers the other end. Called again when the connection is lost. */
  readonly open: () => Promise<MemoryEnd>
  /** What is declared of its tools, by their own names. A tool that is not here is `once` and asks. */
  readonly tools?: Readonly<Record<string, Partial<Omit<ToolProfile, 'declared'>>>>
}

export interface LibraryOptions {
  readonly servers: Readonly<Record<string, LibraryServer>>
  /** Text of Cedar policies. Without any, every call is denied. */
  readonly policy: string
  /** The first rule that matches decides; where none does, a person is asked. */
  readonly consent?: readonly ConsentRule[]
  readonly budgets?: readonly Budget[]
  /** Folder of the ledger and the keys, mode 0700. Without it the record lives as long as the object. */
  readonly home?: string
}

/** Governed tools of servers in this process, for an application that talks to a model by itself. */
export interface Countersign {
  /** Approved tools, by the names under which a model calls them. */
  offers(): readonly ToolOffer[]
  /** The few approved tools that fit what is to be done, or a word of why none does. No model is asked. */
  search(wish: Wish, signal?: AbortSignal): Promise<SearchAnswer>
  /** What the servers offer and nobody approved yet: `server/tool`. */
  pending(): readonly string[]
  /** Approves the definition as it is now. `by` goes on record. */
  approve(tool: string, by: string): Promise<void>
  /** What a server says of itself and of how its tools are used; approved together with its tools. */
  instructions(server: string): string | undefined
  anthropicTools(): AnthropicTool[]
  openaiTools(): OpenAIResponsesTool[]
  /** Judges and runs a `tool_use` block of the Anthropic Messages API; answers its `tool_result`. */
  toolUse(block: unknown, signal?: AbortSignal): Promise<AnthropicToolResult>
  /** Judges and runs a `function_call` item of the OpenAI Responses API; answers its `function_call_output`. */
  functionCall(item: unknown, signal?: AbortSignal): Promise<OpenAIFunctionCallOutput>
  /** One call with everything that is known of it: verdict of each gate, state, acceptance. */
  call(tool: string, argumentsText: string, caller?: Partial<Caller>, signal?: AbortSignal): Promise<Answer>
  /** For `runTask`. With `search` a model is shown three tools in place of all, with `auto` where all would cost too much; `deferred` is for Anthropic, which loads what a search finds; with `code` it reads the tools as functions and writes programs that call them. */
  toolbox(show?: Exposing | 'code'): Toolbox
  /** Answers a waiting question. */
  answer(approval: string, granted: boolean, by: string, why?: string): Promise<Approval | undefined>
  verify(): Promise<Judgement>
  close(): Promise<void>
}

/** Opens the ledger and connects the servers. Resolves when each of them has listed its tools, or failed to. */
export async function createCountersign(options: LibraryOptions): Promise<Countersign> {
  const folder = options.home ?? mkdtempSync(join(tmpdir(), 'countersign-'))
  makeHome(folder)
  const home = ownHome(folder)
  const config = configOf(options, folder)
  let core: Core
  try {
    core = await assemble(config, home, { policies: [{ file: 'policy', text: options.policy }] })
  } catch (fault) {
    home.release()
    throw fault
  }
  await core.settled
  return new Governed(core, config, () => {
    home.release()
    if (options.home === undefined) rmSync(folder, { recursive: true, force: true })
  })
}

function configOf({ servers, consent, budgets }: LibraryOptions, folder: string): Config {
  const defaults = parseConfig(join(folder, 'library.yaml'), '', {})
  return {
    ...defaults,
    lock: join(folder, 'countersign.lock.yaml'),
    servers: Object.entries(servers).map(([name, { open, tools }]): ServerConfig => ({
      spec: { name, reach: { kind: 'memory', open }, revisions: [], connectTimeoutMs: 10_000 },
      identity: { inProcess: name },
      sandbox: 'none',
      resources: 'deny',
      prompts: 'deny',
      shared: true,
      connections: 0,
      idleMs: 600_000,
      naming: 'prefixed',
      asks: noGrant,
      tools: new Map(
        Object.entries(tools ?? {}).map(([tool, profile]) => [tool, { ...undeclared, ...profile, declared: true }]),
      ),
    })),
    consent: { ...defaults.consent, rules: consent ?? [] },
    budgets: (budgets ?? []) as Config['budgets'],
  }
}

const never = new AbortController().signal

class Governed implements Countersign {
  /** One for all toolboxes of this object, so that a run can be taken up by another of them. */
  readonly #programs = {
    executor: new QuickJsExecutor(),
    limits: defaultCodeLimits,
    journals: new Journals(),
    owner: localUser.id,
  }
  readonly #core: Core
  readonly #catalogue: CatalogueDesk
  readonly #release: () => void

  constructor(core: Core, config: Config, release: () => void) {
    this.#core = core
    this.#catalogue = new CatalogueDesk(core, config)
    this.#release = release
  }

  offers(): readonly ToolOffer[] {
    return this.#catalogue.offers()
  }

  pending(): readonly string[] {
    return this.#catalogue
      .tools({})
      .filter(({ state }) => state === 'pending' || state === 'changed')
      .map(({ key }) => key)
  }

  async approve(tool: string, by: string): Promise<void> {
    const slash = tool.indexOf('/')
    const ref = { server: tool.slice(0, slash), name: tool.slice(slash + 1), kind: 'tool' as const }
    const found = this.#catalogue.tool(ref)
    if (found?.livePin === undefined) throw new Error(`there is no tool ${tool} to approve`)
    const approved = await this.#catalogue.approve(ref, found.livePin, by)
    if (approved === undefined || 'code' in approved) throw new Error(`${tool} changed while it was approved`)
  }

  instructions(server: string): string | undefined {
    return this.#catalogue.server(server)?.instructions
  }

  anthropicTools(): AnthropicTool[] {
    return toAnthropicTools(this.offers())
  }
  openaiTools(): OpenAIResponsesTool[] {
    return toOpenAIResponsesTools(this.offers())
  }

  async toolUse(block: unknown, signal = never): Promise<AnthropicToolResult> {
    const read = readAnthropicToolUse(block, this.offers())
    return anthropicToolResult(read.callId, await this.#run(read, signal))
  }

  async functionCall(item: unknown, signal = never): Promise<OpenAIFunctionCallOutput> {
    const read = readOpenAIFunctionCall(item, this.offers())
    return openaiFunctionCallOutput(read.callId, await this.#run(read, signal))
  }

  async #run(read: ReadCall, signal: AbortSignal): Promise<ToolAnswer> {
    if (read.kind === 'call') return toolAnswerOf(await this.call(read.exported, read.argumentsText, {}, signal))
    return { kind: 'result', value: { content: [{ type: 'text', text: read.say }], isError: true }, isError: true }
  }

  call(tool: string, argumentsText: string, caller: Partial<Caller> = {}, signal = never): Promise<Answer> {
    return this.#core.flow.call(
      {
        target: { kind: 'tool', exported: tool },
        arguments: { text: argumentsText },
        origin: { door: 'library' },
        credential: { kind: 'library', principal: localUser.id },
      },
      // An application is told at once that somebody has to say yes, and calls again when it has.
      { consent: 'wait', consentWaitMs: 0, ...caller },
      signal,
    )
  }

  search(wish: Wish, signal = never): Promise<SearchAnswer> {
    return this.#core.search.search({ ...localUser, proof: 'library' }, wish, signal)
  }

  toolbox(show: Exposing | 'code' = 'all'): Toolbox {
    const all = coreToolbox(this.#core, () => this.offers(), { principal: localUser.id })
    // A program that has to wait is ended, with its name: it goes on when it is begun again.
    const caller = { consentWaitMs: 0 }
    const atOnce = coreToolbox(this.#core, () => this.offers(), { principal: localUser.id, caller })
    if (show === 'code') return codeToolbox(atOnce, this.#programs)
    return exposed(all, { find: async (wish, signal) => soughtOf(await this.search(wish, signal)) }, show)
  }

  async answer(approval: string, granted: boolean, by: string, why = ''): Promise<Approval | undefined> {
    const answered = await this.#core.desk.answer(approval, { by, channel: 'cli', granted, why })
    return 'state' in answered ? answered : undefined
  }

  async verify(): Promise<Judgement> {
    await this.#core.open.checkpoint()
    return verifyLedger(this.#core.home.folder)
  }

  async close(): Promise<void> {
    await this.#core.close()
    this.#release()
  }
}
