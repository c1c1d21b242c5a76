import { isDeepStrictEqual } from 'node:util'
import { type Json, type JsonObject, isJsonObject, member, textMember } from '../../words/json.ts'
import type { Profile } from './profiles.ts'

/** One piece of a result as a model may see it. */
export type Block =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly mediaType: string; readonly base64: string; readonly bytes: number }

export interface ContentOptions {
  /** Which of the two a model sees where a result holds both: its `structuredContent`, or the text that stands for it. */
  readonly structured: 'structured' | 'content'
  readonly maxImages: number
}

/** The content of a `tools/call` result. No block is empty, and no text holds the bytes of a picture or a file. */
export function blocksOf(value: JsonObject, isError: boolean, profile: Profile, options: ContentOptions): Block[] {
  const content = member(value, 'content')
  const structured = member(value, 'structuredContent')
  const encoded: { data: string; name: string }[] = []
  let images = 0
  const blocks: (Block & { said?: boolean })[] = []
  for (const item of Array.isArray(content) ? (content as readonly Json[]) : []) {
    if (!isJsonObject(item)) continue
    const type = textMember(item, 'type')
    if (type === 'text') blocks.push({ kind: 'text', text: textMember(item, 'text') ?? '', said: true })
    else if (type === 'image' || type === 'audio') {
      const data = textMember(item, 'data') ?? ''
      const name = mediaName(item, data)
      if (data !== '') encoded.push({ data, name })
      const image = type === 'image' && images < options.maxImages ? readImage(item, data, profile) : undefined
      if (image === undefined) blocks.push({ kind: 'text', text: `[${type} not shown: ${name}]` })
      else {
        images++
        blocks.push(image)
      }
    } else if (type === 'resource_link') blocks.push({ kind: 'text', text: `[link to ${resourceName(item)}]` })
    else if (type === 'resource') {
      const resource = member(item, 'resource')
      if (!isJsonObject(resource)) continue
      const text = textMember(resource, 'text')
      const blob = textMember(resource, 'blob') ?? ''
      if (text !== undefined) blocks.push({ kind: 'text', text: `[${resourceName(resource)}]\n${text}` })
      else {
        const name = `${resourceName(resource)}, ${mediaName(resource, blob)}`
        if (blob !== '') encoded.push({ data: blob, name })
        blocks.push({ kind: 'text', text: `[file not shown: ${name}]` })
      }
    } else blocks.push({ kind: 'text', text: `[content of the type ${JSON.stringify(type ?? null)} not shown]` })
  }
  return withoutEncoded(chosen(blocks, structured, isError, options.structured), encoded)
}

// An error may say in its text what went wrong and in its structure with what: a model needs both to do better.
function chosen(
  blocks: readonly (Block & { said?: boolean })[],
  structured: Json | undefined,
  isError: boolean,
  policy: ContentOptions['structured'],
): Block[] {
  const plain = (block: Block & { said?: boolean }): Block =>
    block.kind === 'text' ? { kind: 'text', text: block.text } : block
  const said = blocks.filter((block) => block.said === true)
  const whole = structured === undefined ? undefined : JSON.stringify(structured)
  const repeated = said.some((block) => block.kind === 'text' && sameJson(block.text, structured))
  if (whole === undefined || repeated) return blocks.map(plain)
  const json: Block = { kind: 'text', text: whole }
  if (isError || said.length === 0) return [...blocks.map(plain), json]
  if (policy === 'content') return blocks.map(plain)
  return [json, ...blocks.filter((block) => block.said !== true).map(plain)]
}

function sameJson(text: string, structured: Json | undefined): boolean {
  if (structured === undefined || !/^\s*[[{"\dtfn-]/.test(text)) return false
  try {
    return isDeepStrictEqual(JSON.parse(text), structured)
  } catch {
    return false
  }
}

// Servers repeat a picture's data in their text or structure; a model that gets it as text pays for it and sees nothing.
function withoutEncoded(blocks: readonly Block[], encoded: readonly { data: string; name: string }[]): Block[] {
  return blocks
    .map((block): Block => {
      if (block.kind !== 'text') return block
      let text = block.text
      for (const { data, name } of encoded) {
        if (data.length >= 16) text = text.replaceAll(data, () => `[data of ${name}]`)
      }
      return { kind: 'text', text: text.replace(DATA_URL, '[data URL of the type $1 not shown]') }
    })
    .filter((block) => block.kind !== 'text' || block.text.trim() !== '')
}

const DATA_URL = /data:([\w.+-]{1,60}\/[\w.+-]{1,60});base64,[A-Za-z0-9+/]{128,}={0,2}/g

function readImage(item: JsonObject, data: string, profile: Profile): Block | undefined {
  const base64 = data.replace(/\s+/g, '')
  const mediaType = textMember(item, 'mimeType') ?? ''
  if (!profile.images.includes(mediaType)) return undefined
  if (base64.length === 0 || base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined
  const bytes = sizeOf(base64)
  // A picture that is not what it says is refused by the provider, and then with it every later turn of the conversation.
  if (bytes > profile.imageBytes || sniff(base64) !== mediaType) return undefined
  return { kind: 'image', mediaType, base64, bytes }
}

function sniff(base64: string): string | undefined {
  const start = Buffer.from(base64.slice(0, 24), 'base64').toString('latin1')
  if (start.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (start.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (start.startsWith('GIF87a') || start.startsWith('GIF89a')) return 'image/gif'
  if (start.startsWith('RIFF') && start.slice(8, 12) === 'WEBP') return 'image/webp'
  return undefined
}

function sizeOf(base64: string): number {
  return Math.floor((base64.length * 3) / 4) - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0)
}

function mediaName(item: JsonObject, data: string): string {
  return `${short(textMember(item, 'mimeType') ?? 'unknown type')}, ${sizeOf(data.replace(/\s+/g, ''))} bytes`
}

function resourceName(resource: JsonObject): string {
  const uri = short(textMember(resource, 'uri') ?? 'a resource without a URI')
  const title = textMember(resource, 'title') ?? textMember(resource, 'name')
  return title === undefined ? uri : `${short(title)} (${uri})`
}

function short(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200).toWellFormed()}…` : text
}
