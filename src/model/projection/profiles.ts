export type ProviderKind = 'anthropic' | 'openai-responses' | 'openai-chat' | 'google' | 'compatible'

/** What one provider's wire takes. Data, not code: a new provider is a row. */
export interface Profile {
  readonly kind: ProviderKind
  readonly names: NameRule
  readonly keys: KeyRule | undefined
  /** Whether `anyOf`, `oneOf` and `allOf` at the root of a schema fail the whole request, and are merged into one object. */
  readonly rootUnions: 'merge' | 'keep'
  /** Keywords that the wire refuses or loses; each one dropped is said in the tool's description. */
  readonly dropped: readonly string[]
  /** Whether a `pattern` may look around. */
  readonly lookaround: boolean
  readonly maxTools: number
  /** Media types that a result may carry as an image; all else becomes a sentence about what was there. */
  readonly images: readonly string[]
  /** Bytes of one image, decoded. */
  readonly imageBytes: number
  /** Whether the wire can say that a result is an error; where it cannot, the text begins with a marker. */
  readonly errorFlag: boolean
  /** Whether `strict: false` has to be said, since without it the provider decides by the schema. */
  readonly saysNotStrict: boolean
  /** Whether it can be told of tools that the model is shown only when a search of ours names them. */
  readonly defersTools: boolean
}

/** Bodies of character classes, so that a rule can be shown as it is. */
export interface NameRule {
  readonly first: string
  readonly rest: string
  readonly max: number
}

export interface KeyRule {
  readonly rest: string
  readonly max: number
  /** `root`: only the arguments' own names are held to the rule; `everywhere`: those of nested objects too. */
  readonly where: 'root' | 'everywhere'
}

// What every provider takes; 64 is the shortest of their limits.
const plainNames: NameRule = { first: 'A-Za-z_', rest: 'A-Za-z0-9_-', max: 64 }
const digitFirst: NameRule = { first: 'A-Za-z0-9_-', rest: 'A-Za-z0-9_-', max: 64 }

const pictures = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const
// Five megabytes of base64, the smallest limit that a provider publishes.
const imageBytes = 3_750_000

const rows: Readonly<Record<ProviderKind, Profile>> = {
  anthropic: {
    kind: 'anthropic',
    names: digitFirst,
    keys: { rest: 'A-Za-z0-9_.-', max: 64, where: 'root' },
    rootUnions: 'merge',
    dropped: [],
    lookaround: true,
    maxTools: 512,
    images: pictures,
    imageBytes,
    errorFlag: true,
    saysNotStrict: false,
    defersTools: true,
  },
  'openai-responses': {
    kind: 'openai-responses',
    names: digitFirst,
    keys: undefined,
    rootUnions: 'merge',
    dropped: ['propertyNames'],
    lookaround: false,
    maxTools: 128,
    images: pictures,
    imageBytes,
    errorFlag: false,
    saysNotStrict: true,
    defersTools: false,
  },
  'openai-chat': {
    kind: 'openai-chat',
    names: digitFirst,
    keys: undefined,
    rootUnions: 'merge',
    dropped: ['propertyNames'],
    lookaround: false,
    maxTools: 128,
    images: [],
    imageBytes,
    errorFlag: false,
    saysNotStrict: true,
    defersTools: false,
  },
  google: {
    kind: 'google',
    names: plainNames,
    keys: { rest: 'A-Za-z0-9_', max: 64, where: 'everywhere' },
    rootUnions: 'merge',
    dropped: [],
    lookaround: true,
    maxTools: 512,
    images: pictures,
    imageBytes,
    errorFlag: true,
    saysNotStrict: false,
    defersTools: false,
  },
  compatible: {
    kind: 'compatible',
    names: plainNames,
    keys: undefined,
    rootUnions: 'merge',
    dropped: [],
    lookaround: true,
    maxTools: 128,
    images: [],
    imageBytes,
    errorFlag: false,
    saysNotStrict: false,
    defersTools: false,
  },
}

/** The row for a provider, narrowed by what a model of it cannot do. */
export function profileOf(kind: ProviderKind, model = ''): Profile {
  const row = rows[kind]
  // Media inside a function response came with Gemini 3; before it, a picture could only stand beside the response.
  if (kind === 'google' && !/(?:^|[/.])gemini-(?:[3-9]|\d\d)/.test(model)) return { ...row, images: [] }
  return row
}
