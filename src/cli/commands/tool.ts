import type { RefusalView, ToolDetail, ToolRef, ToolSummary } from '../../api/contract.ts'
import type { Attached } from '../../gateway/control/attach.ts'
import type { Context } from '../context.ts'
import { type Exit, exitOfRefusal, exits } from '../exits.ts'
import { UsageFault } from '../fault.ts'
import type { Io } from '../io.ts'
import type { Declare } from '../program.ts'
import { visible } from '../../flow/tool/visible.ts'
import { classifyDrift } from '../../mcp/catalogue/scan/drift.ts'
import { differenceLines } from '../render/difference.ts'
import { moment } from '../render/moment.ts'
import { fieldLines, tableLines } from '../render/table.ts'
import { fit, plain } from '../render/width.ts'
import type { ScanOptions } from '../tool-scan.ts'

interface KindOption {
  readonly kind?: ToolRef['kind']
}
interface ListOptions extends KindOption {
  readonly server?: string
  readonly state?: ToolSummary['state']
}
interface SearchOptions {
  readonly limit?: string
  readonly server?: string
  readonly detail?: string
  readonly unsure?: boolean
}
interface ApproveOptions extends KindOption {
  readonly pin?: string
  readonly server?: string
  readonly yes?: boolean
}

const kindOption = ['--kind <kind>', 'tool, prompt or resource (default: tool)'] as const

export const declare: Declare = (program, act) => {
  const tool = program
    .command('tool')
    .description(
      'Tools (and prompts and resources) of all servers: which definition a person approved, and what changed since.\n' +
        'What nobody approved is neither listed to clients nor callable.\n\n' +
        'Examples:\n' +
        '  countersign tool list --state changed\n' +
        '  countersign tool search "what will the weather be"\n' +
        '  countersign tool diff weather/get_weather\n' +
        '  countersign tool approve weather/get_weather\n' +
        '  countersign tool approve --server weather',
    )
  tool
    .command('list')
    .description('every tool, with its state and what the configuration declares of it')
    .option('--server <server>', 'of one server')
    .option('--state <state>', 'approved, pending, changed, quarantined, gone or unavailable')
    .option(...kindOption)
    .action(act(list))
  tool
    .command('search')
    .argument('<request...>', 'what is to be done, in any words')
    .description('the approved tools that fit a request, best first; exit code 3 where none does')
    .option('--limit <n>', 'at most that many (default: 3)')
    .option('--server <server>', 'of one server')
    .option('--detail <detail>', 'name, declaration or schema (default: declaration)')
    .option('--unsure', 'also where nothing is likely to fit')
    .action(act((context, options: SearchOptions, ...said) => search(context, options, said.join(' '))))
  tool
    .command('show')
    .argument('<tool>', 'SERVER/TOOL')
    .description('one tool: the whole definition, as approved and as it is')
    .option(...kindOption)
    .action(act((context, options: KindOption, named) => show(context, options, named!)))
  tool
    .command('diff')
    .argument('<tool>', 'SERVER/TOOL')
    .description('field by field, where the definition differs from the approved one; exit code 3 where it does')
    .option(...kindOption)
    .action(act((context, options: KindOption, named) => diff(context, options, named!)))
  tool
    .command('scan')
    .argument('[tool]', 'SERVER/TOOL')
    .option('--server <server>', 'of one server')
    .description(
      'look for orders to a model, hidden characters, stand-ins and lies in definitions; exit code 3 where something is found\n\n' +
        'Example:\n  countersign tool scan --server weather',
    )
    .action(
      act(async (context, options: ScanOptions, named) => {
        const { scanTools } = await import('../tool-scan.ts')
        return scanTools(context, named === undefined ? undefined : refOf(named, {}), options)
      }),
    )
  tool
    .command('approve')
    .argument('[tools...]', 'SERVER/TOOL')
    .description('approve the definition as it is now: it is shown, and the approval is bound to what was shown')
    .option('--server <server>', 'everything of one server that waits, shown together and asked once')
    .option('--pin <digest>', 'approve only if this is the digest of the definition (as `tool show` prints it)')
    .option('--yes', 'do not ask; for scripts that have looked before')
    .option(...kindOption)
    .action(act((context, options: ApproveOptions, ...named) => approve(context, options, named)))
  tool
    .command('quarantine')
    .argument('<tool>', 'SERVER/TOOL')
    .description('take the approval back: neither listed nor callable from now on')
    .option('--why <text>', 'a reason, for the record')
    .option(...kindOption)
    .action(act((context, options: KindOption & { why?: string }, named) => quarantine(context, options, named!)))
  return tool
}

function refOf(named: string, { kind = 'tool' }: KindOption): ToolRef {
  const cut = named.indexOf('/')
  if (cut < 1 || cut === named.length - 1) throw new UsageFault(`${named}: expected SERVER/TOOL`)
  return { kind, server: named.slice(0, cut), name: named.slice(cut + 1) }
}

async function list(context: Context, { server, state, kind }: ListOptions): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const tools = await client.tools({
    ...(server === undefined ? {} : { server }),
    ...(state === undefined ? {} : { state }),
    ...(kind === undefined ? {} : { kind }),
  })
  if (io.json) io.outJson({ tools })
  else {
    const rows = tools.map((it) => [
      it.kind === 'tool' ? it.key : `${it.key} (${it.kind})`,
      it.state,
      it.declared ? it.effect : `${it.effect} (not declared)`,
      it.risk,
      fit(plain(it.description ?? ''), 80),
    ])
    for (const line of tableLines(['TOOL', 'STATE', 'EFFECT', 'RISK', 'DESCRIPTION'], rows, io)) io.out(line)
  }
  return exits.done
}

async function search(context: Context, options: SearchOptions, query: string): Promise<Exit> {
  const { io, signal } = context
  const { limit, server, detail } = options
  if (limit !== undefined && !/^(?:[1-9]|1\d|20)$/.test(limit))
    throw new UsageFault(`--limit ${limit}: expected 1 to 20`)
  if (detail !== undefined && !isDetail(detail))
    throw new UsageFault(`--detail ${detail}: expected name, declaration or schema`)
  const { client } = await context.attach()
  const answer = await client.searchTools(
    {
      query,
      ...(limit === undefined ? {} : { limit: Number(limit) }),
      ...(server === undefined ? {} : { server }),
      ...(detail === undefined ? {} : { detail }),
      ...(options.unsure === true ? { unsure: 'yes' as const } : {}),
    },
    signal,
  )
  if (io.json) io.outJson(answer)
  else {
    for (const { key, score, text } of answer.matches)
      io.out(`${io.paint('bold', plain(key))}  ${score.toFixed(1)}\n${visible(text)}\n`)
    if (answer.why !== undefined) io.note(`Nothing fits for certain among ${answer.searched} tools: ${answer.why}.`)
    if (answer.left > 0) io.note(`${answer.left} more fit, and were left out for their size.`)
  }
  return answer.matches.length > 0 ? exits.done : exits.refused
}

function isDetail(detail: string): detail is 'name' | 'declaration' | 'schema' {
  return ['name', 'declaration', 'schema'].includes(detail)
}

async function show(context: Context, options: KindOption, named: string): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const tool = await client.tool(refOf(named, options))
  if (io.json) io.outJson(tool)
  else for (const line of toolLines(tool, io)) io.out(line)
  return exits.done
}

async function diff(context: Context, options: KindOption, named: string): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const tool = await client.tool(refOf(named, options))
  const { key, state, pin, livePin, differences } = tool
  const kinds = tool.approved === undefined || tool.live === undefined ? [] : classifyDrift(tool.approved, tool.live)
  if (io.json) io.outJson({ key, state, pin, livePin, kinds, differences })
  else if (pin === undefined) io.out(`${key}: nothing was approved yet, so there is nothing to compare with.`)
  else if (differences.length === 0) io.out(`${key}: the definition is the approved one.`)
  else {
    if (kinds.length > 0) io.out(`${key}: ${kinds.join(', ')}`)
    for (const line of differenceLines(differences, io)) io.out(line)
  }
  return differences.length === 0 && pin !== undefined ? exits.done : exits.refused
}

function toolLines(tool: ToolDetail, io: Pick<Io, 'paint'>): string[] {
  const {
    key,
    kind,
    state,
    exportedName,
    effect,
    risk,
    declared,
    pin,
    livePin,
    approvedBy,
    approvedAt,
    approved,
    live,
  } = tool
  const fields = {
    tool: key,
    kind,
    state,
    'shown to clients as': exportedName,
    effect: declared ? effect : `${effect} (not declared)`,
    risk,
    'approved digest': pin,
    'digest now': livePin === pin ? undefined : livePin,
    approved: approvedBy === undefined ? undefined : `by ${approvedBy}, ${moment(approvedAt)}`,
  }
  const shown = live ?? approved
  return [
    ...fieldLines(fields, io),
    ...differenceLines(tool.differences, io),
    ...(shown === undefined ? [] : ['', io.paint('bold', 'definition'), ...definitionLines(shown)]),
    ...(declared ? ['', io.paint('bold', 'profile'), ...definitionLines(tool.profile)] : []),
  ]
}

function definitionLines(definition: object): string[] {
  return visible(JSON.stringify(definition, null, 2)).split('\n')
}

async function approve(context: Context, options: ApproveOptions, named: readonly string[]): Promise<Exit> {
  const { io } = context
  if ((named.length === 0) === (options.server === undefined))
    throw new UsageFault('expected SERVER/TOOL, or --server SERVER')
  if (options.pin !== undefined && named.length !== 1) throw new UsageFault('--pin goes with exactly one SERVER/TOOL')
  const attached = await context.attach()
  const refs = named.length > 0 ? named.map((it) => refOf(it, options)) : await waitingOf(attached, options)
  const outcomes: (ToolSummary | RefusalView)[] = []
  const looked = await lookAt(context, attached, refs)
  // All of a server is one question, and each answer is still bound to the definition that was shown.
  const together = options.server !== undefined && looked.length > 0
  const all = together && (await agreed(context, looked, `all ${looked.length} of ${options.server!}`, options))
  for (const tool of looked) {
    if (together ? !all : !(await agreed(context, [tool], tool.key, options))) continue
    outcomes.push(await approveOne(context, attached, tool, options))
  }
  if (io.json) io.outJson({ tools: outcomes })
  else if (refs.length === 0) io.out('Nothing waits for an approval.')
  const refused = outcomes.find(isRefused)
  if (refused !== undefined) return exitOfRefusal(refused)
  return outcomes.length < refs.length ? exits.refused : exits.done
}

async function waitingOf({ client }: Attached, { server, kind }: ApproveOptions): Promise<ToolRef[]> {
  const tools = await client.tools({ server: server!, ...(kind === undefined ? {} : { kind }) })
  return tools
    .filter(({ state, livePin }) => livePin !== undefined && (state === 'pending' || state === 'changed'))
    .map((it) => ({ kind: it.kind, server: it.server, name: it.name }))
}

type Offered = ToolDetail & { readonly livePin: string }

/** Shows each as it is now. */
async function lookAt({ io }: Context, { client }: Attached, refs: readonly ToolRef[]): Promise<Offered[]> {
  const looked: Offered[] = []
  for (const ref of refs) {
    const tool = await client.tool(ref)
    const { livePin } = tool
    if (livePin === undefined)
      throw new UsageFault(`${tool.key}: the server does not offer it now, so there is nothing to approve`)
    if (!io.json) for (const line of toolLines(tool, io)) io.note(line)
    looked.push({ ...tool, livePin })
  }
  return looked
}

async function agreed(
  { io, signal }: Context,
  tools: readonly Offered[],
  named: string,
  { pin, yes }: ApproveOptions,
): Promise<boolean> {
  if (pin !== undefined || yes === true) return true
  const [first] = tools
  if (!io.interactive)
    throw new UsageFault(
      'nobody is here to look at the definition',
      `Look with \`countersign tool show ${first!.key}\`, then repeat this with --pin ${first!.livePin}.`,
    )
  const answer = await io.ask(`Type yes to approve ${named} as shown: `, signal)
  if (answer?.trim().toLowerCase() === 'yes') return true
  io.note(`${named}: not approved.`)
  return false
}

async function approveOne(
  { io }: Context,
  { client }: Attached,
  { kind, server, name, livePin }: Offered,
  { pin }: ApproveOptions,
): Promise<ToolSummary | RefusalView> {
  const outcome = await client.approveTool({ kind, server, name }, pin ?? livePin)
  if (!io.json)
    io.out(
      isRefused(outcome)
        ? `${server}/${name}: ${outcome.code}: ${outcome.say} ${outcome.next}`
        : `${outcome.key} is approved (${outcome.pin ?? ''}).`,
    )
  return outcome
}

function isRefused(outcome: ToolSummary | RefusalView): outcome is RefusalView {
  return 'code' in outcome
}

async function quarantine(context: Context, options: KindOption & { why?: string }, named: string): Promise<Exit> {
  const { io } = context
  const { client } = await context.attach()
  const outcome = await client.quarantineTool(refOf(named, options), options.why ?? '')
  if (io.json) io.outJson(outcome)
  else
    io.out(isRefused(outcome) ? `${outcome.code}: ${outcome.say} ${outcome.next}` : `${outcome.key} is in quarantine.`)
  return isRefused(outcome) ? exitOfRefusal(outcome) : exits.done
}
