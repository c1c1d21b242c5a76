import type { Row } from './audit.ts'

/** Ways in which software between two revisions of the protocol goes wrong, by their rank. */
export const traps: readonly Row[] = [
  {
    id: '1',
    what: 'the search for the era starts a second process and waits for a minute',
    held: [
      ['src/mcp/upstream/era.test.ts', 'and silence, lead to initialize on the same pipe'],
      ['src/mcp/upstream/era.test.ts', 'an era that is known already is tried first'],
    ],
  },
  {
    id: '2',
    what: 'the default of a client library is the older era',
    held: [['src/mcp/upstream/era.test.ts', 'the newer era is asked for first']],
  },
  {
    id: '3',
    what: 'no check of Host, Origin or token',
    held: [
      ['src/mcp/downstream/http.test.ts', 'a foreign Host or Origin is refused on every route'],
      ['src/mcp/downstream/http.test.ts', 'without a token that names a principal nothing is answered but 401'],
    ],
  },
  {
    id: '4',
    what: '_meta of one hop leaks into another',
    held: [
      ['src/mcp/downstream/answers.test.ts', 'what an upstream says of its own hop does not reach another'],
      ['test/hostile/results.test.ts', 'members that belong to our hop, or to other people, do not come through'],
    ],
  },
  {
    id: '5',
    what: 'an old conformance suite',
    held: [
      ['test/runtime.test.ts', 'every version is exact'],
      ['test/conformance/server.test.ts', 'the server suite of ${revision} through the gateway'],
    ],
  },
  {
    id: '6',
    what: 'to leave is to cancel in one era only',
    held: [
      ['src/mcp/downstream/consent-legacy.test.ts', 'a legacy client that goes away has not cancelled'],
      ['src/mcp/downstream/consent-modern.test.ts', 'a modern client cancels by closing its stream'],
      [
        'test/issue/left-after-sending.test.ts',
        'F52: a modern client whose going is a cancel leaves the call running too',
      ],
    ],
  },
  {
    id: '7',
    what: 'a lost stream leads to a second effect',
    held: [
      ['test/hostile/once-only.test.ts', 'however the answer dies after the effect, nothing is sent twice'],
      [
        'src/mcp/upstream/http-exchange.test.ts',
        'a request that is started a second time is stopped before it leaves again',
      ],
    ],
  },
  {
    id: '8',
    what: 'a retry carries other arguments than those that were judged',
    held: [
      [
        'src/mcp/downstream/consent-modern.test.ts',
        'a state that is not ours, not this caller’s, not for this request',
      ],
      ['src/mcp/downstream/request-state.test.ts', 'the digest of a request is of all that a retry repeats'],
    ],
  },
  {
    id: '9',
    what: 'a push of an older server inside a call of the newer era',
    held: [['src/mcp/upstream/connection.test.ts', 'requests of the server are answered']],
  },
  {
    id: '10',
    what: 'tasks that a client library does not know',
    held: [['src/mcp/upstream/faults.test.ts', 'a result of a kind that we declared no capability for is no answer']],
  },
  {
    id: '11',
    what: 'Mcp-Param headers that nobody compares',
    held: [
      ['src/mcp/downstream/http.test.ts', 'an argument that a tool wants mirrored must be in its header, and equal'],
      ['test/hostile/http-door.test.ts', 'headers that say something else than the body stop a modern call'],
    ],
  },
  {
    id: '12',
    what: 'OAuth that is left to a client library',
    held: [],
    not: 'The OAuth client is a part of its own, with its own tests; what is sent upstream today is what the operator wrote.',
  },
  {
    id: '13',
    what: 'a prefix makes a name longer than 64',
    held: [
      [
        'src/mcp/catalogue/names.test.ts',
        'names that clash when cleaned, cut or split are exported as different, valid names',
      ],
      ['test/issue/peers-cases.test.ts', 'T9: two servers with the same tool'],
    ],
  },
  {
    id: '14',
    what: 'a cache that principals share',
    held: [
      ['src/mcp/downstream/http.test.ts', 'what each raw request of the modern era is answered'],
      ['test/issue/edge.test.ts', 'whatever depends on the caller is private'],
    ],
  },
  {
    id: '15',
    what: 'error numbers of drafts',
    held: [['test/issue/edge.test.ts', 'the errors of the newer era have its numbers and their statuses']],
  },
  {
    id: '16',
    what: 'a constant of a library that is called the latest version',
    held: [['src/mcp/downstream/http.test.ts', 'only the revisions that were chosen are spoken']],
  },
  {
    id: '17',
    what: 'a schema of the protocol that is narrower than its text',
    held: [
      ['src/mcp/downstream/incoming.test.ts', 'a request is what has a method and an id'],
      ['test/e2e/square.test.ts', 'server says that no client knows is passed on as it is'],
    ],
  },
  {
    id: '18',
    what: 'a suite that needs a newer Node than the system has',
    held: [['test/runtime.test.ts', 'npm scripts run on Node 24, whatever Node the system has']],
  },
]
