import type { LanguageModelV4, SharedV4ProviderOptions } from '@ai-sdk/provider'
import { Secret } from '../../words/secret.ts'
import type { ModelPort } from '../port.ts'
import { type ProviderKind, profileOf } from '../projection/profiles.ts'
import { readScript, scriptedModel } from '../scripted.ts'
import { languageModel } from './language-model.ts'
import { wireFetch } from './wire.ts'

export type Environment = Readonly<Record<string, string | undefined>>

export interface ModelChoice {
  /** False asks for each turn in one piece. */
  readonly streaming?: boolean
}

interface Access {
  readonly baseURL: string
  readonly key: Secret | undefined
}

interface Provider {
  readonly kind: ProviderKind
  /** Names of environment variables; the first that is set counts. */
  readonly keys: readonly string[]
  readonly keyNeeded: boolean
  readonly bases: readonly string[]
  readonly base: string | undefined
  /** Added to a base URL that does not end with it. */
  readonly path?: string
  readonly options: SharedV4ProviderOptions
  open(name: string, access: Access): Promise<LanguageModelV4>
}

const openaiAccess = {
  keys: ['OPENAI_API_KEY'],
  keyNeeded: true,
  bases: ['OPENAI_BASE_URL'],
  base: 'https://api.openai.com/v1',
} as const

const providers: ReadonlyMap<string, Provider> = new Map<string, Provider>([
  [
    'anthropic',
    {
      kind: 'anthropic',
      keys: ['ANTHROPIC_API_KEY'],
      keyNeeded: true,
      bases: ['ANTHROPIC_BASE_URL'],
      base: 'https://api.anthropic.com/v1',
      // Anthropic's own clients take the base without the version.
      path: '/v1',
      // Arguments that are streamed eagerly are not checked to be JSON on the other side.
      options: { anthropic: { toolStreaming: false } },
      async open(name, access) {
        const { createAnthropic } = await import('@ai-sdk/anthropic')
        return createAnthropic(settings('anthropic', access))(name)
      },
    },
  ],
  [
    'openai',
    {
      ...openaiAccess,
      kind: 'openai-responses',
      // The whole conversation goes with each request, so nothing of it has to be kept on the other side.
      options: { openai: { store: false } },
      async open(name, access) {
        const { createOpenAI } = await import('@ai-sdk/openai')
        return createOpenAI(settings('openai-responses', access)).responses(name)
      },
    },
  ],
  [
    'openai-chat',
    {
      ...openaiAccess,
      kind: 'openai-chat',
      options: {},
      async open(name, access) {
        const { createOpenAI } = await import('@ai-sdk/openai')
        return createOpenAI(settings('openai-chat', access)).chat(name)
      },
    },
  ],
  [
    'google',
    {
      kind: 'google',
      keys: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GEMINI_API_KEY'],
      keyNeeded: true,
      bases: ['GOOGLE_GENERATIVE_AI_BASE_URL', 'GEMINI_BASE_URL'],
      base: 'https://generativelanguage.googleapis.com/v1beta',
      options: {},
      async open(name, access) {
        const { createGoogle } = await import('@ai-sdk/google')
        return createGoogle(settings('google', access))(name)
      },
    },
  ],
  [
    'compatible',
    {
      kind: 'compatible',
      keys: ['COMPATIBLE_API_KEY'],
      keyNeeded: false,
      bases: ['COMPATIBLE_BASE_URL'],
      base: undefined,
      options: {},
      async open(name, access) {
        const { createOpenAICompatible } = await import('@ai-sdk/openai-compatible')
        return createOpenAICompatible({
          ...settings('compatible', access),
          name: 'compatible',
          includeUsage: true,
        }).chatModel(name)
      },
    },
  ],
])

export const modelForms =
  'anthropic:NAME, openai:NAME, openai-chat:NAME, google:NAME, compatible:NAME@URL or scripted:FILE'

/**
 * A model from its short form. Everything that can be wrong before the first request is said here, as text: an unknown
 * form, a missing key, a bad URL, a faulty script. Keys come from the environment and from nowhere else.
 */
export function parseModel(
  spec: string,
  env: Environment,
  choice: ModelChoice = {},
): ModelPort | { readonly error: string } {
  const colon = spec.indexOf(':')
  const scheme = colon === -1 ? spec : spec.slice(0, colon)
  const rest = colon === -1 ? '' : spec.slice(colon + 1)
  if (scheme === 'scripted') {
    if (rest === '') return { error: 'scripted: needs a file, as in scripted:turns.yaml' }
    const script = readScript(rest)
    return 'error' in script ? script : scriptedModel(script, spec)
  }
  const provider = providers.get(scheme)
  if (provider === undefined)
    return { error: `There is no model of the form "${shortened(spec)}". The forms are ${modelForms}.` }
  const { name, url } = split(rest, provider)
  if (name === '') return { error: `${scheme}: needs the name of a model, as in ${scheme}:NAME` }
  const secret = first(env, provider.keys)
  if (secret === undefined && provider.keyNeeded) {
    return { error: `${scheme}: needs a key. Set ${provider.keys.join(' or ')} in the environment.` }
  }
  const base = url ?? first(env, provider.bases) ?? provider.base
  if (base === undefined)
    return { error: `${scheme}: needs the server's address, as in ${scheme}:NAME@http://127.0.0.1:11434/v1` }
  const baseURL = checkedBase(base, provider.path)
  if (baseURL === undefined) {
    return { error: `${scheme}: the server's address has to be an http or https URL without user, query and fragment.` }
  }
  const key = secret === undefined ? undefined : new Secret(secret)
  return languageModel({
    label: `${scheme}:${name}`,
    profile: profileOf(provider.kind, name),
    open: () => provider.open(name, { baseURL, key }),
    key,
    streaming: choice.streaming ?? true,
    providerOptions: provider.options,
  })
}

function settings(
  kind: ProviderKind,
  { baseURL, key }: Access,
): { baseURL: string; fetch: typeof fetch; apiKey?: string } {
  return { baseURL, fetch: wireFetch(kind), ...(key === undefined ? {} : { apiKey: key.reveal() }) }
}

// Names of local models hold colons and may hold an @, so the address is what follows the last @ before a scheme.
function split(rest: string, provider: Provider): { name: string; url: string | undefined } {
  const at = provider.kind === 'compatible' ? rest.search(/@https?:\/\/[^@]*$/) : -1
  return at === -1 ? { name: rest, url: undefined } : { name: rest.slice(0, at), url: rest.slice(at + 1) }
}

function first(env: Environment, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = env[name]?.trim()
    if (value !== undefined && value !== '') return value
  }
  return undefined
}

function checkedBase(text: string, path: string | undefined): string | undefined {
  if (!URL.canParse(text)) return undefined
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return undefined
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') return undefined
  const base = url.href.replace(/\/+$/, '')
  return path === undefined || base.endsWith(path) ? base : `${base}${path}`
}

function shortened(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text
}
