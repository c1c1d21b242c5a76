import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Config, ServerConfig } from '../config/config.ts'
import type { Flow } from '../flow/answer.ts'
import { Accounts } from '../flow/budget/index.ts'
import { Desk } from '../flow/consent/desk.ts'
import { createFlow, type FlowNeeds, type Point } from '../flow/index.ts'
import { verifyFound } from '../flow/outcome/index.ts'
import type { Happening } from '../flow/evidence/record.ts'
import { Reconciler } from '../flow/receipt/reconcile.ts'
import { noGrant, offersOfGrant } from '../flow/receipt/ask-grant.ts'
import type { Upstreams } from '../flow/receipt/receipt.ts'
import { Breaker } from '../flow/side-effect/breaker.ts'
import { CedarPolicies } from '../flow/resource/policy.ts'
import type { PolicyText } from '../flow/resource/policy-set.ts'
import type { OwnPlaces } from '../flow/resource/own-places.ts'
import { ScopeResolver } from '../flow/resource/resolver.ts'
import { type ToolProfile, undeclared } from '../flow/tool/profile.ts'
import type { Browser, UpstreamAuth } from '../identity/client/upstream-auth.ts'
import { LiveCatalogue } from '../mcp/catalogue/catalogue.ts'
import type { CatalogueEvent } from '../mcp/catalogue/events.ts'
import { LiveSources } from '../mcp/catalogue/live-sources.ts'
import { ToolSearch } from '../mcp/catalogue/search/tool-search.ts'
import { PreparedShelf } from '../mcp/catalogue/prepared-shelf.ts'
import { ApartUpstream } from '../mcp/upstream/apart.ts'
import { type ConnectedUpstream, connectUpstream } from '../mcp/upstream/connection.ts'
import { type Started, confineServers } from './confine.ts'
import { reapOrphans } from '../sandbox/orphans.ts'
import { legHappening } from '../store/sqlite/asks.ts'
import { Observatory } from '../telemetry/observed.ts'
import { type OpenLedger, openLedger } from '../store/sqlite/open.ts'
import { defaultResultLimits } from '../flow/result/limits.ts'
import { SpillFolder } from '../store/spill.ts'
import type { JsonObject } from '../words/json.ts'
import { embedderOf } from './embedder.ts'
import { KnownSecrets } from '../identity/secrets/known-secrets.ts'
import type { Secret } from '../words/secret.ts'
import { recordConnections } from './connection-records.ts'
import type { Home } from './home.ts'
import { LateAnswers } from './late-answers.ts'
import { TaintBook } from '../flow/resource/taint.ts'
import { readPolicies } from './policies.ts'
import { serverChanges } from './server-set.ts'
import { identitiesOf } from './principals.ts'
import { samplerFor } from './sampler.ts'
import { GovernedReadBacks } from './read-backs.ts'
import { scrubbed } from './scrubbed.ts'
import { upstreamAuths, withAuth } from './upstream-auth.ts'

/** Everything that decides and records, without a door. */
export interface Core {
  readonly home: Pick<Home, 'folder'>
  readonly flow: Flow
  /** Metrics and spans of the calls. */
  readonly observatory: Observatory
  readonly open: OpenLedger
  readonly identities: ReturnType<typeof identitiesOf>
  readonly policies: CedarPolicies
  readonly policyProblems: readonly string[]
  readonly catalogue: LiveCatalogue
  readonly shelf: PreparedShelf
  readonly sources: LiveSources
  readonly search: ToolSearch
  readonly upstreams: ReadonlyMap<string, ConnectedUpstream>
  /** The same by name, with the connections that principals have to themselves: calls go this way. */
  readonly apart: ReadonlyMap<string, ApartUpstream>
  /** How each server is started, and what confines it. */
  readonly started: ReadonlyMap<string, Started>
  /** What holds now. A reload puts another in its place. */
  readonly inForce: { readonly config: Config }
  /** Puts a checked configuration into force, in one step as far as calls can see. */
  swap(config: Config, policies: readonly PolicyText[]): Promise<void>
  /** The tokens of the upstreams that want some, by name. */
  readonly auths: ReadonlyMap<string, UpstreamAuth>
  /** Where this gateway listens; no tool gets there. */
  readonly doorPorts: Set<number>
  /** What was handed to servers, and must not come back. */
  readonly known: KnownSecrets
  readonly desk: Desk
  readonly budgets: Accounts
  readonly reconciler: Reconciler
  readonly profileOf: (tool: string) => ToolProfile
  readonly spill: SpillFolder
  readonly lateAnswers: LateAnswers
  readonly onFault: (fault: unknown, where: string) => void
  /** Resolves when every upstream has answered or failed once, and what it listed is known. */
  readonly settled: Promise<void>
  close(): Promise<void>
}

export interface AssembleOptions {
  readonly at?: (point: Point) => void
  readonly onFault?: (fault: unknown, where: string) => void
  /** In place of the files in the policy folder. */
  readonly policies?: readonly PolicyText[]
  /** Logs in at the upstreams that ask for it, without a person. */
  readonly browser?: Browser
}

/** Opens the ledger, connects the upstreams and joins them to a flow. What was opened is closed again where a part of it fails. */
export async function assemble(config: Config, home: Home, options: AssembleOptions): Promise<Core> {
  const closers: Closer[] = []
  try {
    return await open(config, home, options, closers)
  } catch (fault) {
    await closeAll(closers)
    throw fault
  }
}

type Closer = () => void | Promise<void>

/** The last that was opened first. */
async function closeAll(closers: Closer[]): Promise<void> {
  for (const close of closers.splice(0).toReversed()) await close()
}

const nobody = Promise.resolve(undefined)

async function open(config: Config, home: Home, options: AssembleOptions, closers: Closer[]): Promise<Core> {
  const onFault = options.onFault ?? ((): void => {})
  await reapOrphans(join(home.folder, 'children'))
  const opened = openLedger(home.folder, {
    repeatWindowMs: config.ledger.repeatWindowMs,
    reads: config.ledger.reads,
    checkpointEvery: config.evidence.checkpointEvery,
    checkpointMs: config.evidence.checkpointSeconds * 1000,
  })
  closers.push(() => opened.close())
  const { ledger } = opened
  const identities = identitiesOf(config, home)
  const texts = options.policies ?? readPolicies(config.policy)
  const policies = new CedarPolicies(texts)
  const known = new KnownSecrets()
  const onSecret = (secret: Secret): void => known.add(secret)
  const inForce = { config }
  const auths = new Map(upstreamAuths(config.servers, home.folder, options.browser, onSecret))
  const started = new Map(await confineServers(config.servers, home.folder))
  const note = (happening: Happening): void => {
    if (opened.judgement.verdict !== 'valid') return
    ledger.record(happening).catch((fault: unknown) => onFault(fault, happening.kind))
  }
  const connect = ({ spec, asks }: ServerConfig): ConnectedUpstream => {
    const upstream = connectUpstream(
      { ...withAuth(started.get(spec.name)!.spec, auths.get(spec.name)), offers: offersOfGrant(asks) },
      {
        records: join(home.folder, 'children'),
        onSecret,
        messageBytes: config.limits.resultHardBytes + (64 << 10),
      },
    )
    recordConnections(upstream, note)
    return upstream
  }
  const upstreams = new Map(config.servers.map((server) => [server.spec.name, connect(server)]))
  const apartOf = (server: ServerConfig): ApartUpstream => {
    const first = upstreams.get(server.spec.name)!
    // A server in this process is the embedding program's own, which can connect it but once.
    const shared = server.shared || server.spec.reach.kind === 'memory'
    const { connections: most, idleMs } = server
    return new ApartUpstream({ first, open: () => connect(server), shared, most, idleMs })
  }
  const apart = new Map(config.servers.map((server) => [server.spec.name, apartOf(server)]))
  closers.push(async () => {
    await Promise.all([...apart.values(), ...upstreams.values()].map((upstream) => upstream.close()))
  })
  const profileOf = (server: string, name: string): ToolProfile =>
    inForce.config.servers.find(({ spec }) => spec.name === server)?.tools.get(name) ?? undeclared
  const record = (event: CatalogueEvent): void => {
    const { kind, ...facts } = event
    note({ kind: 'catalogue.changed', at: Date.now(), facts: { change: kind, ...jsonOf(facts) } })
  }
  const catalogue = new LiveCatalogue({
    lock: config.lock,
    servers: config.servers,
    upstreams,
    profileOf,
    pollMs: config.catalogue.refreshMs,
    onEvent: record,
  })
  closers.push(() => catalogue.close())
  const shelf = new PreparedShelf(catalogue, policies)
  const search = new ToolSearch(catalogue, policies, embedderOf(config.search.embedder))
  closers.push(() => search.close())
  const desk = new Desk(ledger)
  const budgets = new Accounts(config.budgets, ledger, Date.now())
  const spill = new SpillFolder(home.folder)
  const lateAnswers = new LateAnswers()
  const byKey = (tool: string): ToolProfile =>
    profileOf(tool.slice(0, tool.indexOf('/')), tool.slice(tool.indexOf('/') + 1))
  const readBacks = new GovernedReadBacks(() => flow, byKey)
  const reconciler = new Reconciler({
    ledger,
    readBacks,
    profileOf: byKey,
    now: Date.now,
    found: async (row, onBehalf, signal) => {
      const { acceptance } = await verifyFound(onBehalf, row.tool, byKey(row.tool), { readBacks }, signal)
      if (acceptance !== 'not_required') await ledger.conclude(row.id, acceptance, [])
    },
  })
  const dispatch: Upstreams = {
    send: (permit, sending) => {
      const upstream = apart.get(permit.action.tool.server)
      return upstream === undefined
        ? Promise.resolve({ kind: 'not-sent', why: 'there is no such upstream' })
        : upstream
            .send(permit, { ...sending, onLate: (late) => sending.onLate(scrubbed(late, known)) })
            .then((outcome) => scrubbed(outcome, known))
    },
  }
  const taints = new TaintBook(Date.now)
  const doorPorts = new Set(config.endpoint.port > 0 ? [config.endpoint.port] : [])
  const own = ownPlaces(config, home, doorPorts)
  const watched = (what: Promise<unknown>): void => void what.catch((fault: unknown) => onFault(fault, 'reconcile'))
  const needs: FlowNeeds = {
    limits: { argumentBytes: config.limits.argumentBytes, depth: config.limits.argumentDepth },
    identities,
    catalogue,
    visibility: policies,
    scopes: new ScopeResolver(config.roots, own.paths, own),
    policies,
    taints,
    get rules() {
      return inForce.config.consent.rules
    },
    approvals: ledger,
    history: ledger,
    desk,
    get consentWaitMs() {
      return inForce.config.consent.waitMs
    },
    budgets,
    ledger,
    upstreams: dispatch,
    breaker: new Breaker({ failures: config.limits.unansweredCalls, pauseMs: config.limits.unansweredPause }),
    result: {
      spill,
      taints,
      limits: {
        ...defaultResultLimits,
        maxBytes: config.limits.resultBytes,
        hardBytes: config.limits.resultHardBytes,
        ...(config.contentTypes === undefined ? {} : { allowedTypes: config.contentTypes }),
      },
    },
    asks: {
      grantOf: (server) => inForce.config.servers.find(({ spec }) => spec.name === server)?.asks ?? noGrant,
      permitted: (action, form) => policies.mayAsk(action, form),
      record: (asked) => ledger.asked(asked),
      ...(config.sampling === undefined ? {} : { sample: samplerFor(config.sampling, budgets) }),
      recordLeg: (action, operation, leg) => ledger.record(legHappening(action, operation, leg)),
      limits: {
        perCall: config.limits.asksPerCall,
        bytes: config.limits.askBytes,
        waitMs: config.limits.askWait,
      },
    },
    readBacks,
    now: Date.now,
    onUnknown: (operation) => watched(reconciler.opened(operation)),
    onLate: (permit, late) => watched(reconciler.late(permit, late)),
    onPending: (operation) => lateAnswers.expect(operation),
    onSettledLate: (permit, answer) => {
      lateAnswers.keep(permit.operation, answer)
      watched(ledger.finishCompensation(permit.operation))
    },
    onFault,
    ...(options.at === undefined ? {} : { at: options.at }),
  }
  const observatory = new Observatory()
  const flow = observatory.over(createFlow(needs))
  const woken = (name: string, upstream: ConnectedUpstream): void =>
    void upstream.onState((state) => {
      if (state.kind === 'ready') watched(reconciler.woken(name))
    })
  const swap = async (next: Config, texts: readonly PolicyText[]): Promise<void> => {
    const { gone, come } = serverChanges(inForce.config, next)
    // All that may fail comes before anything is changed.
    const confined = await confineServers(come, home.folder)
    const tokens = upstreamAuths(come, home.folder, options.browser, onSecret)
    policies.replace(texts)
    budgets.replace(next.budgets, Date.now())
    inForce.config = next
    const ended = gone.flatMap((name) => [apart.get(name), upstreams.get(name)])
    for (const name of gone) for (const map of [apart, upstreams, started, auths]) map.delete(name)
    for (const server of come) {
      const { name } = server.spec
      started.set(name, confined.get(name)!)
      const auth = tokens.get(name)
      if (auth !== undefined) auths.set(name, auth)
      upstreams.set(name, connect(server))
      apart.set(name, apartOf(server))
      if (opened.judgement.verdict === 'valid') woken(name, upstreams.get(name)!)
    }
    own.folders = startFolders(next)
    catalogue.change(
      gone,
      come.map((declared) => ({ declared, upstream: upstreams.get(declared.spec.name)! })),
    )
    for (const upstream of ended) upstream?.close().catch((fault: unknown) => onFault(fault, 'reload'))
  }
  if (opened.judgement.verdict === 'valid') {
    const unconfined = [...started].filter(([, { why }]) => why !== undefined).map(([name]) => name)
    const facts = {
      policy: policies.version,
      recovered: [...opened.recovered],
      ...(unconfined.length === 0 ? {} : { unconfined }),
    }
    // A ledger that cannot be written now refuses every call by itself, and is tried again.
    await ledger
      .record({ kind: 'ledger.opened', at: Date.now(), facts })
      .catch((fault: unknown) => onFault(fault, 'ledger'))
    for (const operation of opened.recovered) watched(reconciler.opened(operation))
    reconciler.start()
    for (const [name, upstream] of upstreams) woken(name, upstream)
    closers.push(() => reconciler.stop())
  }
  return {
    home,
    flow,
    observatory,
    open: opened,
    identities,
    policies,
    policyProblems: policies.checked.ok ? [] : policies.checked.messages,
    catalogue,
    shelf,
    sources: new LiveSources(catalogue, (server, principal) => apart.get(server)?.lend(principal) ?? nobody, policies),
    search,
    upstreams,
    started,
    inForce,
    swap,
    apart,
    auths,
    doorPorts,
    known,
    desk,
    budgets,
    reconciler,
    profileOf: byKey,
    spill,
    lateAnswers,
    onFault,
    settled: catalogue.settled,
    close: () => closeAll(closers),
  }
}

// The type of an event has named members; a fact is any JSON.
function jsonOf(facts: object): JsonObject {
  return JSON.parse(JSON.stringify(facts)) as JsonObject
}

/** What no tool may touch, whatever the policies say: whoever writes there decides what is allowed. */
function ownPlaces(
  config: Config,
  home: Home,
  doorPorts: ReadonlySet<number>,
): Omit<OwnPlaces, 'folders'> & { folders: OwnPlaces['folders'] } {
  const paths = [home.folder, config.file, config.policy, config.lock]
  return {
    // What is not there yet is its maker's too, as far as there is a folder for it.
    paths: paths.filter((path) => existsSync(dirname(path)) || path === home.folder),
    ports: () => [...doorPorts],
    hosts: config.endpoint.allowedHosts.map((host) => host.toLowerCase().replace(/:\d+$/, '')),
    folders: startFolders(config),
  }
}

function startFolders({ servers }: Config): OwnPlaces['folders'] {
  return new Map(servers.flatMap(({ spec }) => (spec.reach.kind === 'stdio' ? [[spec.name, spec.reach.cwd]] : [])))
}
