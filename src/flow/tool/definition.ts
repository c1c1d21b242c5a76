import { canonical } from '../../words/canonical.ts'
import { type Digest, digest } from '../../words/digest.ts'
import type { JsonObject } from '../../words/json.ts'
import type { CapabilityKind } from './selected.ts'

/** All that a person approves at once: what a server says of one capability, and who the server is. */
export interface Pinned {
  readonly kind: CapabilityKind
  /** The whole definition as the server sent it, fields included that nobody here knows: a model may read them. */
  readonly definition: JsonObject
  readonly serverIdentity: Digest
  /** Of `instructionsDigest`: instructions reach the model with every tool of the server. */
  readonly instructions: Digest
}

/** Open objects and arrays in a definition. */
export const DEFINITION_DEPTH = 60

/** The digest that stands for an approved definition. Throws CanonicalFault where it has no canonical form. */
export function pinOf(pinned: Pinned): Digest {
  const { kind, definition, serverIdentity, instructions } = pinned
  return digest(canonical({ kind, definition, serverIdentity, instructions }, DEFINITION_DEPTH + 1))
}

/** No instructions and empty ones are two things. */
export function instructionsDigest(instructions: string | undefined): Digest {
  // Not `canonical`: it refuses lone surrogates, and no server may escape its digest by sending one.
  return digest(JSON.stringify(instructions ?? null))
}
