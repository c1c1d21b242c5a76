/** One thing that was looked at. */
export interface Finding {
  readonly what: string
  readonly result: 'ok' | 'warn' | 'fail'
  readonly says: string
  /** What to do; for everything that is not ok. */
  readonly fix?: string
}

export function ok(what: string, says: string): Finding {
  return { what, result: 'ok', says }
}
export function warn(what: string, says: string, fix: string): Finding {
  return { what, result: 'warn', says, fix }
}
export function fail(what: string, says: string, fix: string): Finding {
  return { what, result: 'fail', says, fix }
}

/** What a fault of ours says, as a finding. */
export function failOf(what: string, fault: unknown): Finding {
  const { message, hint } =
    fault instanceof Error ? (fault as Error & { hint?: unknown }) : { message: String(fault), hint: undefined }
  return fail(what, message, typeof hint === 'string' ? hint : 'See the message.')
}
