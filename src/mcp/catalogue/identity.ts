import { canonical } from '../../words/canonical.ts'
import { type Digest, digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'

/**
 * What a server is known by: how it is started or reached, as the operator wrote it, and the installed version of its
 * package. A server that is started otherwise is another server, whatever its name.
 */
export function serverIdentity(facts: JsonObject): Digest {
  return digest(canonical(facts))
}
