/**
 * Every way in which Countersign says no. One row: which step says it, the HTTP status it maps to, whether the very
 * same call may be tried again without a change, what happened, and what to do next. `docs/refusals.md` has one heading
 * per row; a test keeps the two equal.
 */
export interface RefusalRow {
  readonly step:
    | 'proposal'
    | 'principal'
    | 'tool'
    | 'resource'
    | 'consent'
    | 'budget'
    | 'side-effect'
    | 'receipt'
    | 'result'
    | 'outcome'
  readonly http: 400 | 401 | 403 | 404 | 409 | 413 | 422 | 429 | 500 | 502 | 503 | 504
  /** May the caller send the same call again as it is, and expect another answer? */
  readonly retry: boolean
  readonly say: string
  readonly next: string
}

export const refusals = {
  MALFORMED: {
    step: 'proposal',
    http: 400,
    retry: false,
    say: 'The call is not one well-formed JSON value in UTF-8.',
    next: 'Send valid JSON; the facts name the place where reading stopped.',
  },
  DUPLICATE_KEY: {
    step: 'proposal',
    http: 400,
    retry: false,
    say: 'An object in the call has the same key twice, so two readers could understand it differently.',
    next: 'Send each key once.',
  },
  NUMBER_OUT_OF_RANGE: {
    step: 'proposal',
    http: 400,
    retry: false,
    say: 'A number in the call cannot be held without losing digits.',
    next: 'Send integers beyond 2^53 as text, if the tool takes text.',
  },
  TOO_DEEP: {
    step: 'proposal',
    http: 400,
    retry: false,
    say: 'The call is nested deeper than the limit.',
    next: 'Flatten the arguments.',
  },
  TOO_LARGE: {
    step: 'proposal',
    http: 413,
    retry: false,
    say: 'The call is larger than the limit.',
    next: 'Send less in one call, or raise limits.argumentBytes.',
  },
  ARGUMENTS_NOT_AN_OBJECT: {
    step: 'proposal',
    http: 400,
    retry: false,
    say: 'The arguments of a call are a JSON object, and these are not.',
    next: 'Send an object; send {} for no arguments.',
  },
  NO_IDENTITY: {
    step: 'principal',
    http: 401,
    retry: false,
    say: 'The call carries no credential that names a principal.',
    next: 'Send the bearer token that `countersign init` made, or a service token from the configuration.',
  },
  LOGIN_REFUSED: {
    step: 'principal',
    http: 409,
    retry: false,
    say: 'No token for this server could be got.',
    next: 'The facts say why; look at `auth` of the server in the configuration, and begin another login.',
  },
  IDENTITY_EXPIRED: {
    step: 'principal',
    http: 401,
    retry: false,
    say: 'The credential has expired.',
    next: 'Get a new credential and try again.',
  },
  TOOL_UNKNOWN: {
    step: 'tool',
    http: 404,
    retry: false,
    say: 'No tool, prompt or resource of that name may be used here.',
    next: 'List what there is, and use one of those names.',
  },
  TOOL_NOT_APPROVED: {
    step: 'tool',
    http: 403,
    retry: false,
    say: 'Nobody has approved this definition, so it is in quarantine.',
    next: 'Read it with `countersign tool show`, then `countersign tool approve`.',
  },
  TOOL_CHANGED: {
    step: 'tool',
    http: 409,
    retry: false,
    say: 'The definition differs from the one that was approved.',
    next: 'Read the difference with `countersign tool diff`, then `countersign tool approve` if it is wanted.',
  },
  SERVER_CHANGED: {
    step: 'tool',
    http: 409,
    retry: false,
    say: 'The server is not the one that was approved: its identity or its instructions differ.',
    next: 'Read the difference with `countersign server show`, then approve its tools again if it is wanted.',
  },
  SERVER_UNAVAILABLE: {
    step: 'tool',
    http: 503,
    retry: true,
    say: 'The upstream server is not connected.',
    next: 'See why with `countersign server show`; it is tried again by itself.',
  },
  CAPABILITY_NOT_NEGOTIATED: {
    step: 'tool',
    http: 422,
    retry: false,
    say: 'The upstream server did not offer the capability that this call needs.',
    next: 'Use what it offers; `countersign server show` lists it.',
  },
  ARGUMENTS_INVALID: {
    step: 'tool',
    http: 422,
    retry: false,
    say: 'The arguments do not fit the approved input schema.',
    next: 'Correct the arguments that the facts name.',
  },
  SCOPE_UNREADABLE: {
    step: 'resource',
    http: 422,
    retry: false,
    say: 'What the call would touch cannot be read from its arguments.',
    next: 'Send the argument in the form that the facts name.',
  },
  SCOPE_UNSAFE: {
    step: 'resource',
    http: 403,
    retry: false,
    say: 'The name of what the call would touch is written in a way that readers could understand differently.',
    next: 'Write it plainly: no NUL, no control characters, no encoded separators.',
  },
  SCOPE_OUTSIDE: {
    step: 'resource',
    http: 403,
    retry: false,
    say: 'What the call would touch lies outside what this tool may touch.',
    next: 'Stay inside the folders and hosts that the configuration declares.',
  },
  POLICY_DENIED: {
    step: 'resource',
    http: 403,
    retry: false,
    say: 'No policy permits this principal to do this to that resource.',
    next: 'Try it with `countersign check`, and change policy/*.cedar if it is wanted.',
  },
  POLICY_ERROR: {
    step: 'resource',
    http: 403,
    retry: false,
    say: 'The policies could not be evaluated for this call without an error, so the answer is no.',
    next: 'Run `countersign policy check` and mend what it names.',
  },
  CONSENT_RULE_DENIES: {
    step: 'consent',
    http: 403,
    retry: false,
    say: 'A consent rule says that this is never done.',
    next: 'Change the rule that the facts name, if it is wanted.',
  },
  APPROVAL_WAITING: {
    step: 'consent',
    http: 403,
    retry: true,
    say: 'A person has to say yes first, and nobody has answered yet.',
    next: 'Answer it with `countersign approval approve ID` (or deny), then send the same call again.',
  },
  APPROVAL_DENIED: {
    step: 'consent',
    http: 403,
    retry: false,
    say: 'A person was asked, and said no.',
    next: 'Read the reason in the facts. The same call is not asked again until the denial expires.',
  },
  APPROVAL_EXPIRED: {
    step: 'consent',
    http: 403,
    retry: true,
    say: 'A person had to say yes, and nobody answered before the question expired.',
    next: 'Send the same call again; it is asked anew.',
  },
  APPROVER_MISSING: {
    step: 'consent',
    http: 403,
    retry: false,
    say: 'A person has to say yes, and there is no channel by which anybody could be asked.',
    next: 'Give the consent rule a channel, or run where a terminal is attached.',
  },
  BUDGET_SPENT: {
    step: 'budget',
    http: 429,
    retry: true,
    say: 'The budget for this window is spent.',
    next: 'Wait for the window that the facts name, or raise the budget.',
  },
  LOOP_DETECTED: {
    step: 'budget',
    http: 429,
    retry: false,
    say: 'The very same call was made again and again, and brought the very same result each time.',
    next: 'Do something else with what it brought. After the time that the facts name it may be made again.',
  },
  TOO_MANY_AT_ONCE: {
    step: 'budget',
    http: 429,
    retry: true,
    say: 'As many calls as allowed are running already.',
    next: 'Wait for one to end.',
  },
  KEY_REUSED: {
    step: 'side-effect',
    http: 422,
    retry: false,
    say: 'The idempotency key was used for a call with other arguments, another tool or another principal.',
    next: 'Use a new key for a new intention.',
  },
  IN_PROGRESS: {
    step: 'side-effect',
    http: 409,
    retry: true,
    say: 'The same call is running now.',
    next: 'Ask for the operation that the facts name; do not send it again meanwhile.',
  },
  OUTCOME_UNKNOWN: {
    step: 'side-effect',
    http: 409,
    retry: false,
    say: 'The same call was sent before, and nobody knows yet what became of it.',
    next: 'Reconcile or decide the operation that the facts name (`countersign operation show`).',
  },
  AUTHORISATION_STALE: {
    step: 'side-effect',
    http: 409,
    retry: true,
    say: 'Between the judgement and the dispatch the approval was used, or the tool or the policy changed.',
    next: 'Send the call again; it is judged anew.',
  },
  NOT_UNDOABLE: {
    step: 'side-effect',
    http: 409,
    retry: false,
    say: 'The operation cannot be undone: it is not known to have taken effect, or its profile names nothing that undoes it.',
    next: 'Find out first what became of it (`countersign operation reconcile` or `decide`), and declare `compensate`.',
  },
  UPSTREAM_TRIPPED: {
    step: 'side-effect',
    http: 503,
    retry: true,
    say: 'The server left many calls in a row unanswered, so no new one is sent to it for a while. This one was not sent.',
    next: 'Wait until the time that the facts name; what became of earlier calls is found out meanwhile.',
  },
  LEDGER_UNAVAILABLE: {
    step: 'side-effect',
    http: 503,
    retry: true,
    say: 'The ledger cannot be written, so nothing with an effect is sent. This call was not recorded and is safe to repeat.',
    next: 'Run `countersign doctor`; look at the disk.',
  },
  LEDGER_ROLLED_BACK: {
    step: 'side-effect',
    http: 503,
    retry: false,
    say: 'The ledger is behind the head that is kept outside it: an old copy was put back, or records were lost.',
    next: 'Put the newest ledger back, or run `countersign evidence verify` and decide.',
  },
  LEDGER_BUSY: {
    step: 'side-effect',
    http: 503,
    retry: true,
    say: 'Too many writes wait for the ledger. This call was not recorded and is safe to repeat.',
    next: 'Send it again later.',
  },
  NOT_SENT: {
    step: 'receipt',
    http: 502,
    retry: true,
    say: 'The call provably never left: the upstream could not be reached.',
    next: 'It is safe to repeat. See why with `countersign server show`.',
  },
  ASK_NOT_GRANTED: {
    step: 'receipt',
    http: 403,
    retry: false,
    say: 'The server needs to ask something of the client, and nothing grants it that here.',
    next: 'Grant it under `asks` of the server and with the policy action `ask`, if it is wanted.',
  },
  CALLER_LEFT: {
    step: 'consent',
    http: 409,
    retry: true,
    say: 'The caller went away or cancelled before anything was sent.',
    next: 'Send the call again if it is still wanted.',
  },
  RESULT_TYPE_REFUSED: {
    step: 'result',
    http: 502,
    retry: false,
    say: 'The result holds a kind of content that may not pass. The call itself has run.',
    next: 'Name the content type under `contentTypes` of the tool in the configuration, if it is wanted. Do not repeat the call to get another answer.',
  },
  RESULT_SCHEMA_MISMATCH: {
    step: 'result',
    http: 502,
    retry: false,
    say: 'The result does not fit the approved output schema. The call itself has run.',
    next: 'Look at the operation; do not repeat the call.',
  },
  RESULT_TOO_LARGE: {
    step: 'result',
    http: 502,
    retry: false,
    say: 'The result is larger than can be kept. The call itself has run.',
    next: 'Ask for less; do not repeat a call that has an effect.',
  },
  RESULT_SECRET: {
    step: 'result',
    http: 502,
    retry: false,
    say: 'The result holds something that looks like a secret, and the rule for this tool is to hold it back. The call itself has run.',
    next: 'Let an operator look at the operation.',
  },
} as const satisfies Record<string, RefusalRow>

export type RefusalCode = keyof typeof refusals
