import { DEFINITION_DEPTH } from '../../flow/tool/definition.ts'
import { admit } from '../../flow/tool/schema-admission.ts'
import { hasHidden } from '../../flow/tool/visible.ts'
import { CanonicalFault, canonical } from '../../words/canonical.ts'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'

/** One tool or prompt as the server lists it now. */
export interface Listed {
  readonly kind: 'tool' | 'prompt'
  readonly name: string
  readonly definition: JsonObject
  /** As it came, to see whether it is the same as last time. */
  readonly text: string
  /** Why it cannot be used, whatever a person says of it. The others of the server are not to blame for it. */
  readonly unusable: string | undefined
  /** What a person should know before approving it. */
  readonly notes: readonly string[]
}

const DEFINITION_BYTES = 1 << 20
const NAME_LENGTH = 256
/** Keys of what is neither a tool nor a prompt of the server begin like this, and keys are unique. */
const RESERVED = /^(?:prompts|resources)\//

/**
 * What a server lists, by name, in its order. What is equal to last time is the same object as last time. A name that comes
 * twice in different words is unusable, both times: it could not be said which one would be called.
 */
export function listedOf(
  kind: 'tool' | 'prompt',
  items: readonly JsonObject[],
  before: ReadonlyMap<string, Listed>,
): Map<string, Listed> {
  const listed = new Map<string, Listed>()
  for (const definition of items) {
    const name = textMember(definition, 'name') ?? ''
    const text = textOf(definition)
    const twice = listed.get(name)
    if (twice !== undefined) {
      if (text === '' || twice.text !== text)
        listed.set(name, { ...twice, text: '', unusable: 'the server lists this name twice' })
      continue
    }
    const known = before.get(name)
    listed.set(name, text !== '' && known?.text === text ? known : examined(kind, name, definition, text))
  }
  return listed
}

export function sameListing(one: ReadonlyMap<string, Listed>, other: ReadonlyMap<string, Listed>): boolean {
  return one.size === other.size && [...one].every(([name, listed]) => other.get(name) === listed)
}

function examined(kind: 'tool' | 'prompt', name: string, definition: JsonObject, text: string): Listed {
  const unusable =
    nameFault(kind, name) ??
    formFault(definition) ??
    (kind === 'tool' ? toolFault(definition) : promptFault(definition))
  const notes = text !== '' && hasHidden(text) ? ['it holds characters that are not seen'] : []
  return { kind, name, definition, text, unusable, notes }
}

function nameFault(kind: 'tool' | 'prompt', name: string): string | undefined {
  if (name === '') return 'it has no name'
  if (name.length > NAME_LENGTH) return `its name is longer than ${NAME_LENGTH} characters`
  if (!name.isWellFormed()) return 'its name is not well-formed Unicode'
  return kind === 'tool' && RESERVED.test(name) ? 'its name is reserved' : undefined
}

function formFault(definition: JsonObject): string | undefined {
  try {
    const { length } = canonical(definition, DEFINITION_DEPTH)
    return length > DEFINITION_BYTES ? `its definition is larger than ${DEFINITION_BYTES} bytes` : undefined
  } catch (fault) {
    if (fault instanceof CanonicalFault) return `its definition has no canonical form: ${fault.message}`
    throw fault
  }
}

function toolFault(definition: JsonObject): string | undefined {
  const input = member(definition, 'inputSchema')
  if (input === undefined) return 'it has no input schema'
  const admitted = admit(input, 'arguments')
  if ('refused' in admitted) return `its input schema: ${admitted.refused}`
  const output = member(definition, 'outputSchema')
  if (output === undefined) return undefined
  const result = admit(output, 'result')
  return 'refused' in result ? `its output schema: ${result.refused}` : undefined
}

function promptFault(definition: JsonObject): string | undefined {
  const declared = member(definition, 'arguments')
  if (declared === undefined || declared === null) return undefined
  if (!Array.isArray(declared)) return 'its arguments are not a list'
  const names = (declared as readonly Json[]).map((argument) =>
    isJsonObject(argument) ? textMember(argument, 'name') : undefined,
  )
  if (names.includes(undefined)) return 'an argument of it has no name'
  return new Set(names).size === names.length ? undefined : 'two of its arguments have the same name'
}

function textOf(definition: JsonObject): string {
  try {
    return JSON.stringify(definition)
  } catch {
    // Nested so deeply that it cannot even be written: `formFault` says so.
    return ''
  }
}
