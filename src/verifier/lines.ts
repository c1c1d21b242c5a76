import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { Found, tampered } from './judgement.ts'

/** The longest line that is read: a record with a payload of 64 MiB in base 64. */
const LONGEST = 96 * 1024 * 1024

export interface Line {
  readonly text: string
  /** SHA-256 of every byte of the file before this line. */
  readonly before: () => string
}

/** Lines as they were written: UTF-8, each ended by one newline and nothing else. What is cut is incomplete, not wrong. */
export async function* linesOf(path: string): AsyncGenerator<Line> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  const whole = createHash('sha256')
  let parts: Buffer[] = []
  let length = 0
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      const bytes = Buffer.concat([...parts, chunk.subarray(from, end + 1)])
      parts = []
      length = 0
      from = end + 1
      let text: string
      try {
        text = decoder.decode(bytes.subarray(0, -1))
      } catch {
        throw tampered('a line is not UTF-8')
      }
      yield { text, before: () => whole.copy().digest('hex') }
      whole.update(bytes)
    }
    const rest = chunk.subarray(from)
    length += rest.length
    if (length > LONGEST) throw new Found('unjudgeable', `a line of more than ${LONGEST} bytes`)
    if (rest.length > 0) parts.push(rest)
  }
  if (parts.length > 0) throw new Found('incomplete', 'the last line is cut off')
}
