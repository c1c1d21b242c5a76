/** Any value that JSON text can hold, as `JSON.parse` gives it. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
export interface JsonObject {
  readonly [key: string]: Json
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The member of that name if the object itself has it; never one that it inherits (`constructor`, `__proto__`). */
export function member(object: JsonObject, key: string): Json | undefined {
  return Object.hasOwn(object, key) ? object[key] : undefined
}

export function textMember(object: JsonObject, key: string): string | undefined {
  const value = member(object, key)
  return typeof value === 'string' ? value : undefined
}
