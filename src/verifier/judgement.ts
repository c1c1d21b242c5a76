/**
 * valid · tampered (something does not fit what was signed or chained) · incomplete (all that is there fits, but not all
 * is there) · unjudgeable (unknown format, version or key).
 */
export interface Judgement {
  readonly verdict: 'valid' | 'tampered' | 'incomplete' | 'unjudgeable'
  /** Records that were read and found to fit. */
  readonly records: number
  /** seq of the first record that does not fit. */
  readonly firstBad?: number
  readonly why: readonly string[]
  /** Fingerprint of the key that signed the end. */
  readonly key?: string
  readonly checkpoint?: CheckpointText
  /** Payloads whose key was destroyed: what was committed to stands, what it was is gone. */
  readonly erased?: number
  /** Payloads that were opened and are what was committed to. */
  readonly payloads?: number
}

/** What a checkpoint states: that the first `size` records of this ledger have this Merkle root. */
export interface CheckpointText {
  readonly ledger: string
  readonly size: number
  /** hex */
  readonly root: string
}

/** Ends the judging where it stands. */
export class Found extends Error {
  readonly verdict: Exclude<Judgement['verdict'], 'valid'>
  constructor(verdict: Exclude<Judgement['verdict'], 'valid'>, why: string) {
    super(why)
    this.verdict = verdict
  }
}

export function tampered(why: string): Found {
  return new Found('tampered', why)
}
