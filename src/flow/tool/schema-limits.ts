/** What a foreign schema may cost. One that costs more is not compiled, and its tool stays in quarantine. */
export const schemaLimits = Object.freeze({
  /** Of the canonical text. */
  bytes: 256 << 10,
  /** Open objects and arrays in the schema's own text. */
  depth: 48,
  /** Schemas within the schema. Compiling takes about 0.3 ms for each. */
  subschemas: 1_000,
  /** Evaluations of one and the same value, through anyOf, oneOf, allOf, not, if and references. */
  branching: 2_000,
  patterns: 200,
  patternLength: 1_000,
  enumValues: 20_000,
  /** Evaluations that one check may take, with four characters of a pattern's text counting as one. */
  steps: 250_000,
  /** The same for the second look that collects more errors than the first. */
  stepsForErrors: 5_000,
})
