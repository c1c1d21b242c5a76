import type { WireOutcome } from '../flow/receipt/receipt.ts'
import type { KnownSecrets } from '../identity/secrets/known-secrets.ts'
import type { JsonObject, Json } from '../words/json.ts'

/** The same outcome without the secrets that we gave to servers: before it is recorded, judged or answered. */
export function scrubbed(outcome: WireOutcome, known: KnownSecrets): WireOutcome {
  switch (outcome.kind) {
    case 'reply': {
      const bytes = known.scrubBytes(outcome.bytes)
      if (bytes === outcome.bytes) return outcome
      return {
        ...outcome,
        bytes,
        value: JSON.parse(Buffer.from(bytes).toString('utf8')) as JsonObject,
      }
    }
    case 'error': {
      const data = outcome.data === undefined ? undefined : JSON.stringify(outcome.data)
      return {
        ...outcome,
        message: known.scrub(outcome.message),
        ...(data !== undefined && { data: JSON.parse(known.scrub(data)) as Json }),
      }
    }
    case 'not-sent':
      return { ...outcome, why: known.scrub(outcome.why) }
    case 'no-answer':
      return { ...outcome, detail: known.scrub(outcome.detail) }
    default:
      return outcome satisfies never
  }
}
