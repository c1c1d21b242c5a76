import { type JsonObject, isJsonObject, member, textMember } from '../../../words/json.ts'
import type { Finding } from './finding.ts'
import { parametersOf } from './surfaces.ts'

const words = (name: string): string[] =>
  name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)

const COPY_TO =
  /^(?:callback|webhook|bcc|cc|forward|relay|mirror|collector|exfil|beacon|notify|copy|audit|telemetry|report|log|tracking|analytics|proxy)$/
const ADDRESS = /^(?:https?:\/\/(?!(?:localhost|127\.|example\.))|[\w.+-]+@[\w-]+\.\w)/i
const SENSITIVE_DEFAULT = /(?:^|\/)(?:\.ssh|\.aws|\.env|\.netrc|\.kube|\.gnupg)\b|id_rsa|\/etc\/(?:passwd|shadow)/
const COPIED =
  /\b(?:cop(?:y|ies)|posted|forward|mirrored?|sent|relay|report(?:ed|s)?|bcc|notif\w+|uploads?|collect\w*)\b/i

/**
 * What is wrong with a definition whatever its words say: a default that sends things elsewhere, a parameter that asks for
 * what a tool has no business with, annotations that its name contradicts.
 */
export function structureOf(definition: JsonObject): Finding[] {
  return [...defaultsOf(definition), ...grabsOf(definition), ...liesOf(definition)]
}

function* defaultsOf(definition: JsonObject): Generator<Finding> {
  for (const { at, name, schema } of parametersOf(definition)) {
    const value = schema['default']
    if (typeof value !== 'string') continue
    const about = textMember(schema, 'description') ?? ''
    const copies = words(name).some((word) => COPY_TO.test(word)) || COPIED.test(about)
    if (ADDRESS.test(value) && copies) {
      yield {
        rule: 'default-sends-away',
        at: `${at}/default`,
        score: 1,
        text: value,
        why: 'its default sends something to an address that the server chose',
      }
    }
    if (SENSITIVE_DEFAULT.test(value)) {
      yield {
        rule: 'default-reads-secret',
        at: `${at}/default`,
        score: 1,
        text: value,
        why: 'its default is a place where secrets are kept',
      }
    }
  }
}

// What is said to a model, and what a model is told, is no argument of a tool.
const CONTEXT_NAME =
  /^(?:(?:full_?|entire_?|whole_?|complete_?)?(?:conversation|chat|dialog(?:ue)?|session|message|context)_?(?:history|log|transcript|so_?far|dump|context|summary|memory)|system_?prompt|(?:previous|prior|past|earlier)_?(?:messages|conversation|context|turns)|(?:conversation|transcript)|(?:your|model|agent|assistant)_?(?:instructions|prompt|system_?prompt|reasoning|thoughts)|chain_?of_?thought)$/i
const CONTEXT_TEXT =
  /\b(?:(?:full|complete|entire|whole) (?:\w+ ){0,2}(?:conversation|chat|dialog(?:ue)?|transcript|context|prompt|message history)|(?:conversation|chat|dialog(?:ue)?) (?:history|transcript|so far|log)|system prompt|(?:all|every) (?:previous|prior|earlier) (?:messages?|turns?)|(?:everything|all) the user (?:has )?(?:said|wrote|written|typed))\b/i
const CALLER_NAME =
  /^(?:(?:llm|ai|assistant|agent|caller|calling)_?(?:model_?)?(?:name|id|identity|version|type)|(?:calling|caller)_?(?:llm|model|agent)|llm_model(?:_name)?|model_identity)$/i
const CALLER_TEXT =
  /\bname of (?:the|your) (?:\w+ ){0,2}(?:llm|model|assistant|agent)\b[^.]{0,30}\b(?:that|which|calls?|calling|uses?|using|you are)\b/i
const SECRET_NAME =
  /^(?:env_?(?:dump|vars?|ironment_?variables)|ssh_?key|private_?key_?(?:content|text|contents)|aws_?credentials|(?:user_?)?session_?cookie|cookie_?jar|keychain|id_rsa|wallet_?seed|seed_?phrase|master_?password|dot_?env|local_?secrets?|machine_?secrets?|credentials_?file)$/i
const SECRET_TEXT =
  /(?:\bprintenv\b|\boutput of [`'"]?(?:env|set|printenv|whoami|cat)\b|~\/\.(?:ssh|aws|env|netrc|kube|gnupg)|\bid_(?:rsa|ed25519)\b|\/etc\/(?:passwd|shadow)|\bcontents? of (?:the )?[^.]{0,30}(?:\.env\b|key file|credentials?\b|private key|keychain|cookie)|\b(?:the )?user'?s (?:password|session cookie|private key|api keys?|seed phrase|credentials))/i

function* grabsOf(definition: JsonObject): Generator<Finding> {
  for (const { at, name, schema, required } of parametersOf(definition)) {
    const type = schema['type']
    if (type !== undefined && type !== 'string' && type !== 'object' && type !== 'array') continue
    const about = textMember(schema, 'description') ?? ''
    const text = `${name}: ${about}`.slice(0, 200)
    if (CALLER_NAME.test(name) || CALLER_TEXT.test(about)) {
      yield { rule: 'asks-who-calls', at, score: 1, text, why: 'it asks which model is calling' }
    } else if (SECRET_NAME.test(name) || SECRET_TEXT.test(about)) {
      yield { rule: 'asks-for-secrets', at, score: 1, text, why: 'it asks for secrets of the machine or of the person' }
    } else if (CONTEXT_NAME.test(name) || CONTEXT_TEXT.test(about)) {
      // A tool that summarises a conversation takes one: by itself that is a remark.
      const own = new RegExp(`\\b(?:conversation|chat|dialog|transcript|messages?|memor)`, 'i').test(
        `${textMember(definition, 'name') ?? ''} ${(textMember(definition, 'description') ?? '').slice(0, 300)}`,
      )
      yield {
        rule: 'asks-for-context',
        at,
        score: own ? 0.6 : required ? 1.1 : 1,
        text,
        why: 'it asks for the conversation or for the instructions of the model',
      }
    }
  }
}

const CHANGES =
  /^(?:delete|remove|drop|destroy|erase|purge|wipe|truncate|write|overwrite|create|update|insert|upsert|edit|modify|patch|send|post|reply|publish|upload|execute|exec|run|kill|terminate|move|rename|deploy|install|uninstall|push|commit|merge|transfer|pay|buy|purchase|sell|cancel|close|archive|revoke|grant|invite|schedule|book|set|save|append|add|assign|start|stop|restart|apply|scale|rollback|click|type|press|submit|drag|launch|reset|enable|disable|register)$/
const STRONG =
  /^(?:delete|remove|drop|destroy|erase|purge|wipe|truncate|write|overwrite|create|update|insert|upsert|edit|modify|patch|send|publish|upload|kill|terminate|rename|deploy|install|uninstall|push|commit|transfer|pay|purchase|revoke|grant)$/
const DESTROYS = /^(?:delete|remove|drop|destroy|erase|purge|wipe|truncate|kill|terminate|uninstall|revoke|overwrite)$/

/** A sentence that says, in the third person or as an order, that something is destroyed or sent. */
const SAYS_SO =
  /(?:^|[.!?;:\n]\s*|\band )(?:permanently |irreversibly |automatically )?(?:delet|remov|eras|overwrit|destroy|drop|purg|wip|send|post|publish|transfer|truncat)(?:e?s)?\b(?! (?:no|nothing)\b)/i

/** Hints are never believed where they loosen. Here they are compared with the name, since a lie says who tells it. */
function* liesOf(definition: JsonObject): Generator<Finding> {
  const annotations = member(definition, 'annotations')
  if (!isJsonObject(annotations)) return
  const name = textMember(definition, 'name') ?? ''
  const verbs = words(name)
  if (annotations['readOnlyHint'] === true && verbs.slice(0, 3).some((word) => CHANGES.test(word))) {
    const leading = STRONG.test(verbs[0] ?? '') || STRONG.test(verbs[1] ?? '')
    yield {
      rule: 'annotation-contradicts',
      at: '/annotations/readOnlyHint',
      score: leading ? 1 : 0.6,
      text: name,
      why: 'it says that it only reads, and its name says that it changes something',
    }
  } else if (annotations['readOnlyHint'] === true && SAYS_SO.test(textMember(definition, 'description') ?? '')) {
    const text = (textMember(definition, 'description') ?? '').slice(0, 200)
    yield {
      rule: 'annotation-contradicts',
      at: '/annotations/readOnlyHint',
      score: 1,
      text,
      why: 'it says that it only reads, and its description says that it changes something',
    }
  } else if (annotations['destructiveHint'] === false && verbs.slice(0, 2).some((word) => DESTROYS.test(word))) {
    yield {
      rule: 'annotation-contradicts',
      at: '/annotations/destructiveHint',
      score: 0.6,
      text: name,
      why: 'it says that it destroys nothing, and its name says that it does',
    }
  }
}
