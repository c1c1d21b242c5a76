import { parseConfig } from '../load.ts'
import type { JsonObject } from '../../words/json.ts'
import { editText, entriesOf, readText } from './format.ts'
import { withScalar } from './yaml-text.ts'

/** The servers of a configuration as they are written there. */
export function serversIn(text: string, file: string): JsonObject {
  return entriesOf(readText(text, 'yaml', file), 'servers', file)
}

/**
 * The configuration with those servers added and taken out; all else stays as it is written. The whole of it is checked:
 * throws a ConfigFault where it could not be used.
 */
export function withServers(
  file: string,
  text: string,
  change: { readonly put?: Readonly<Record<string, JsonObject>>; readonly remove?: readonly string[] },
  environment: { readonly [name: string]: string | undefined },
): string {
  const edited = editText(text, 'yaml', { root: 'servers', put: change.put ?? {}, remove: change.remove ?? [] }, file)
  parseConfig(file, edited, environment)
  return edited
}

/** The configuration in which a person has let these servers start. */
export function withAdmitted(
  file: string,
  text: string,
  names: readonly string[],
  environment: { readonly [name: string]: string | undefined },
): string {
  const edited = names.reduce((last, name) => withScalar(last, ['servers', name, 'enabled'], 'true'), text)
  parseConfig(file, edited, environment)
  return edited
}
