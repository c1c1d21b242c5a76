/** What a thing looks like, and what it then is. General forms only: paths, addresses, hashes, dates, money. */
const FORMS: readonly (readonly [form: RegExp, stands: readonly string[], keep: boolean])[] = [
  [/\bhttps?:\/\/\S+/g, ['url', 'page', 'web'], true],
  [/(?<![\w@])[\w.+-]+@[\w-]+\.[\w.]+/g, ['email', 'mail', 'address'], false],
  [/(?<![\w/])~?\/[\w.-]+\/$/g, ['directory', 'folder', 'path'], true],
  [/(?<![\w/:])(?:~|\.{1,2})?\/[\w.-]+(?:\/[\w.-]+)*/g, ['file', 'path'], true],
  [
    /\b[\w-]+\.(?:md|txt|json|ya?ml|toml|csv|log|js|ts|py|go|rs|java|html?|css|xml|ini|cfg|conf|sh|sql)\b/gi,
    ['file'],
    true,
  ],
  [/\b[\w-]+\.(?:png|jpe?g|gif|webp|svg|bmp)\b/gi, ['image', 'file'], true],
  [/\b[\w-]+\.(?:mp3|wav|ogg|flac|m4a)\b/gi, ['audio', 'file'], true],
  [/\b[\w-]+\.(?:mp4|mov|avi|mkv|webm)\b/gi, ['video', 'file'], true],
  [/\b[\w-]+\.(?:pdf)\b/gi, ['pdf', 'document'], true],
  [/\b[\w-]+\.(?:xlsx?)\b/gi, ['excel', 'sheet'], true],
  [/\b[\w-]+\.(?:docx?)\b/gi, ['word', 'document'], true],
  [/\b[\w-]+\.(?:pptx?)\b/gi, ['powerpoint', 'presentation'], true],
  [/\b[\w-]+\.(?:com|org|net|io|dev|ai|co)\b/gi, ['domain', 'website', 'url'], true],
  [/(?<![\w&])#[a-z][\w-]*/gi, ['channel', 'tag'], true],
  [/(?<!\w)@[a-z][\w-]*/gi, ['user', 'mention'], true],
  [/(?<!\w)#\d+\b/g, ['issue', 'number'], true],
  [/\b[\w.-]+\/[\w.-]+\b(?!\/)/g, ['repository', 'owner'], true],
  [/\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b/g, ['commit', 'hash', 'id'], false],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, ['ip', 'address'], true],
  [/\b\d{4}-\d{2}-\d{2}\b/g, ['date'], true],
  [/\b0x[0-9a-fA-F]{6,}/g, ['address', 'transaction', 'wallet'], false],
  [/\b[\w./-]+(?:, [\w./-]+)+,? and [\w./-]+/g, ['multiple', 'batch', 'bulk', 'many'], true],
  [/[$€£¥]\s?\d/g, ['price', 'amount', 'currency'], true],
  [/\b\d+\s?[-+*/^×÷]\s?\d+\b/g, ['calculate', 'math'], true],
  [/-?\d{1,3}\.\d{2,},\s?-?\d{1,3}\.\d{2,}/g, ['latitude', 'longitude', 'coordinates'], true],
]

/** Without one of these signs a request names no thing of these forms, and most requests have none. */
const SIGNS = /[/.@#$€£¥,\d]/

/** The text without what only looks like noise, and what the things in it are. */
export function cuesOf(request: string): { readonly text: string; readonly cues: readonly (readonly string[])[] } {
  if (!SIGNS.test(request)) return { text: request, cues: [] }
  const cues: (readonly string[])[] = []
  let text = request
  for (const [form, stands, keep] of FORMS) {
    if (request.search(form) < 0) continue
    cues.push(stands)
    if (!keep) text = text.replaceAll(form, ' ')
  }
  return { text, cues }
}
