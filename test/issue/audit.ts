/** What holds a case: a test file, and words of the title of a test in it. */
export type Held = readonly [file: string, title: string]

export interface Row {
  readonly id: string
  readonly what: string
  readonly held: readonly Held[]
  /** What of it is not held by a test, and why. */
  readonly not?: string
}

const cases = 'test/issue/peers-cases.test.ts'
const apart = 'test/issue/apart.test.ts'
const fresh = 'src/mcp/catalogue/freshness.test.ts'
const hostile = 'test/hostile'

/** Cases that users of other gateways ran into. */
export const peersCases: readonly Row[] = [
  {
    id: 'T1',
    what: 'the second page',
    held: [
      [cases, 'T1: tools of the second page'],
      ['src/mcp/upstream/lists.test.ts', 'an empty cursor is a cursor'],
    ],
  },
  {
    id: 'T2',
    what: 'a cursor that does not move',
    held: [
      [fresh, 'T2: a list without end is cut'],
      ['src/mcp/upstream/lists.test.ts', 'a cursor that comes twice, and pages without end'],
    ],
  },
  {
    id: 'T3',
    what: 'cancel reaches the right call only',
    held: [
      ['src/mcp/downstream/pipe.test.ts', 'a cancelled call is not answered, and the flow is told'],
      ['src/mcp/upstream/deadlines.test.ts', 'a read whose caller leaves ends at once'],
      [
        'test/issue/left-after-sending.test.ts',
        'F52: a modern client whose going is a cancel leaves the call running too',
      ],
    ],
    not: 'A cancel goes on only for reads and for tools that declare `cancel: clean`: elsewhere it could hide an effect.',
  },
  { id: 'T4', what: 'progress with equal tokens', held: [[cases, 'T4, T24: two clients']] },
  {
    id: 'T5',
    what: 'state between callers',
    held: [
      [apart, 'T5: what one principal leaves in a server no other finds'],
      [apart, 'T5: a server that is declared shared'],
    ],
  },
  {
    id: 'T6',
    what: 'a session belongs to a credential',
    held: [
      [`${hostile}/keys-and-principals.test.ts`, 'a session belongs to the principal that began it'],
      ['src/mcp/downstream/sessions.test.ts', 'a session is needed, and is found by its own principal only'],
    ],
    not: 'No record names both principals: the request is turned away at the door as one of an unknown session, before any gate.',
  },
  {
    id: 'T7',
    what: 'restart of a server',
    held: [
      ['src/mcp/upstream/http.test.ts', 'costs one call, which is not sent again; later calls have a new session'],
      ['src/mcp/upstream/faults.test.ts', 'F22: a server that ends in mid-call is started again'],
      [cases, 'T7: a server that dies takes one call with it at most'],
    ],
    not: 'A read is not repeated either: a call that may have been executed is never sent again by us.',
  },
  {
    id: 'T8',
    what: 'one dead and one slow server',
    held: [
      [
        `${hostile}/upstreams.test.ts`,
        'beside the dead, the mute, the endless and the stubborn an honest server lists and works',
      ],
      [
        'src/mcp/catalogue/server-change.test.ts',
        'a server that never answers is unavailable and holds nobody else up',
      ],
    ],
  },
  {
    id: 'T9',
    what: 'names',
    held: [
      [cases, 'T9: two servers with the same tool'],
      ['src/mcp/catalogue/server-change.test.ts', 'T9: exported names do not depend on which server connects first'],
      ['src/mcp/catalogue/names.test.ts', 'any two different pairs of names have different exported names'],
    ],
  },
  {
    id: 'T10',
    what: 'an error result and an output schema',
    held: [
      ['src/flow/result/index.test.ts', 'an error of the tool is never held against a schema'],
      [`${hostile}/results.test.ts`, 'an error with structured content is relayed as the error that it is'],
    ],
  },
  {
    id: 'T11',
    what: 'one bad schema',
    held: [
      ['src/mcp/catalogue/catalogue.test.ts', 'bad tools stay in quarantine with a reason'],
      [`${hostile}/catalogue.test.ts`, 'hostile schemas are quarantined or bounded'],
    ],
  },
  { id: 'T12', what: 'references, unions, annotations', held: [[cases, 'T12: references, unions']] },
  {
    id: 'T13',
    what: 'list_changed',
    held: [
      ['src/mcp/downstream/sessions.test.ts', 'changed lists are told on the stream, once for many changes'],
      ['src/mcp/upstream/changes.test.ts', 'a change is told at once, a flood of them seldom, and the last one always'],
      ['src/mcp/upstream/http.test.ts', 'a server without such a stream is left alone'],
      ['test/e2e/drift.test.ts', 'before anybody approved it a tool is neither listed nor callable'],
    ],
  },
  {
    id: 'T14',
    what: 'the tree of processes',
    held: [
      ['src/sandbox/spawn.test.ts', 'F51: a server that ignores the end of input and SIGTERM'],
      ['src/sandbox/orphans.test.ts', 'T14: what is killed alone takes what it started with it'],
      ['src/sandbox/orphans.test.ts', 'F51: what a killed gateway left behind is ended at the next start'],
    ],
  },
  { id: 'T15', what: 'abandoned sessions', held: [['test/issue/many-sessions.test.ts', 'T15: ']] },
  {
    id: 'T16',
    what: 'timeout of a write',
    held: [
      ['test/hostile/keys-and-principals.test.ts', 'sixteen calls at once under one key'],
      [`${hostile}/late-and-reconciled.test.ts`, 'an answer after the soft deadline'],
      ['test/issue/crash-then-look.test.ts', 'F25: killed after the reply and before its record'],
    ],
  },
  {
    id: 'T17',
    what: 'approval swap',
    held: [
      [`${hostile}/approvals.test.ts`, 'a yes is for these arguments'],
      [`${hostile}/approvals.test.ts`, 'a yes under one policy is none under another'],
      [`${hostile}/approvals.test.ts`, 'a question that expires while its caller waits ends the wait'],
      ['test/issue/drift-after-yes.test.ts', 'F56: a tool that changes between the yes and the call'],
    ],
  },
  {
    id: 'T18',
    what: 'approval judged again at dispatch',
    held: [
      ['test/issue/order-of-records.test.ts', 'F56: a tool that is taken back between the judgement and the intent'],
    ],
  },
  {
    id: 'T19',
    what: 'rug pull, field by field',
    held: [
      ['src/flow/tool/definition.test.ts', 'every field of a definition is pinned'],
      ['src/mcp/catalogue/server-change.test.ts', 'instructions that changed put every tool of the server aside'],
      ['src/mcp/catalogue/prepared-shelf.test.ts', 'prompts are pinned like tools'],
      ['test/e2e/drift.test.ts', 'one changed word: the tool goes from the list'],
    ],
    not: 'The version that a server gives itself is no part of the pin: it is the word of the server. What it runs is.',
  },
  {
    id: 'T20',
    what: 'hidden text at first sight',
    held: [['src/cli/attached.test.ts', 'a difference is shown with everything that is not seen written out']],
  },
  {
    id: 'T21',
    what: 'a large result',
    held: [
      ['src/flow/result/index.test.ts', 'a result above the tool’s limit is kept aside'],
      [
        `${hostile}/keys-and-principals.test.ts`,
        'an operation, a kept result and a question are seen by their owner alone',
      ],
    ],
  },
  {
    id: 'T22',
    what: 'OAuth',
    held: [],
    not: 'Of the OAuth client and its tests; a caller’s token has no way to an upstream, whose headers are the operator’s alone.',
  },
  {
    id: 'T23',
    what: 'the square of eras',
    held: [
      ['test/e2e/square.test.ts', 'server by ${up}, and clients of both eras by both ways'],
      ['src/mcp/upstream/era.test.ts', '401, 403, 429, 5xx, redirects and silence say nothing of the era'],
    ],
  },
  {
    id: 'T24',
    what: 'equal request ids',
    held: [
      [cases, 'T4, T24: two clients'],
      ['src/mcp/downstream/concurrency.test.ts', '200 calls at once under the id 1'],
    ],
  },
  {
    id: 'T25',
    what: 'budgets under concurrency',
    held: [
      ['src/flow/budget/accounts.test.ts', 'whatever is held, settled and released, no more calls are let through'],
    ],
  },
  {
    id: 'T26',
    what: 'damage to the evidence',
    held: [
      [`${hostile}/ledger-damage.test.ts`, 'an old copy that is put back is told from the newer one'],
      ['test/e2e/commands.test.ts', 'an edited export, a cut one and a ledger that went back'],
    ],
  },
]
