import {
  type Era,
  type LegacyRevision,
  type Revision,
  eraOf,
  legacyRevisions,
  modernRevisions,
} from '../wire/revisions.ts'

/** Every bound of this side. Times are milliseconds, sizes bytes. */
export interface DownstreamLimits {
  /** One JSON-RPC message, by HTTP or on a pipe. */
  readonly messageBytes: number
  /** Arrays and objects that may be open at once in a message. */
  readonly depth: number
  /** From the first byte of a request's headers to the last of its body. */
  readonly intakeMs: number
  /** How long a reader may leave an answer lying. */
  readonly writeMs: number
  /** What may wait unread on a stream before it is cut, or notifications on it are left out. */
  readonly unreadBytes: number
  readonly connections: number
  /** Legacy sessions in all, and of one principal. */
  readonly sessions: number
  readonly sessionsPerPrincipal: number
  readonly sessionIdleMs: number
  /** Calls that one session or pipe may have under way. */
  readonly callsAtOnce: number
  /** Calls that one principal may have under way, whatever sessions it has or does without. */
  readonly callsPerPrincipal: number
  /** A call that takes longer is handed to a client that knows tasks as one. */
  readonly taskAfterMs: number
  /** Tasks that are kept in all, and of one principal; one more call is simply waited for. */
  readonly tasks: number
  readonly tasksPerPrincipal: number
  /** `subscriptions/listen` streams in all, and of one principal. */
  readonly subscriptions: number
  readonly subscriptionsPerPrincipal: number
  /** A silent stream carries a comment this often; a call that takes longer is turned into a stream. */
  readonly keepAliveMs: number
  /** How often a client that asked for progress hears that its call is alive. */
  readonly progressMs: number
  /** Changes of lists within this time are told once. */
  readonly coalesceMs: number
  /** How long a modern client may keep a question that it was given before it answers. */
  readonly questionMs: number
  /** Calls of modern clients that may wait for answers between two rounds: in all, and of one principal. */
  readonly parked: number
  readonly parkedPerPrincipal: number
  /** How long calls may still run after the client of a pipe has said its last. */
  readonly farewellMs: number
}

export const defaultLimits: DownstreamLimits = Object.freeze({
  messageBytes: (1 << 20) + (1 << 16),
  depth: 70,
  intakeMs: 15_000,
  writeMs: 60_000,
  unreadBytes: 1 << 20,
  connections: 4_096,
  sessions: 10_000,
  sessionsPerPrincipal: 2_500,
  sessionIdleMs: 30 * 60_000,
  callsAtOnce: 256,
  callsPerPrincipal: 1_024,
  taskAfterMs: 500,
  tasks: 4_096,
  tasksPerPrincipal: 256,
  subscriptions: 1_024,
  subscriptionsPerPrincipal: 128,
  keepAliveMs: 15_000,
  progressMs: 5_000,
  coalesceMs: 50,
  questionMs: 600_000,
  parked: 1_024,
  parkedPerPrincipal: 64,
  farewellMs: 30_000,
})

export interface DownstreamOptions {
  /** 32 bytes that only this home has: what clients carry for us between two requests is sealed with it. */
  readonly stateKey: Uint8Array
  /** Protocol revisions that may be spoken; empty means all. */
  readonly revisions: readonly Revision[]
  /** Host names, besides those of the loopback interface, by which clients may call us. Without port. */
  readonly allowedHosts: readonly string[]
  /** Origins, besides our own, whose pages may call us, e.g. `https://console.example`. */
  readonly allowedOrigins: readonly string[]
  readonly limits: DownstreamLimits
}

/** The revisions of one era that may be spoken, newest first. */
export function revisionsOf(era: 'legacy', options: DownstreamOptions): readonly LegacyRevision[]
export function revisionsOf(era: Era, options: DownstreamOptions): readonly Revision[]
export function revisionsOf(era: Era, options: DownstreamOptions): readonly Revision[] {
  const all: readonly Revision[] = era === 'legacy' ? legacyRevisions : modernRevisions
  return options.revisions.length === 0 ? all : all.filter((revision) => options.revisions.includes(revision))
}

export function speaks(era: Era, options: DownstreamOptions): boolean {
  return options.revisions.length === 0 || options.revisions.some((revision) => eraOf(revision) === era)
}
