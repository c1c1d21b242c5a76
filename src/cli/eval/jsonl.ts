import { readFileSync } from 'node:fs'
import { type JsonObject, isJsonObject } from '../../words/json.ts'
import { UsageFault } from '../fault.ts'

/** Bytes of one file; a catalogue of 20,000 tools has about 20 million. */
const LARGEST = 512 << 20

/** One line of a file, and how to say that it cannot be used. */
export interface Line {
  readonly number: number
  readonly value: JsonObject
  readonly fail: (why: string) => UsageFault
}

/** The objects of a file of JSON lines. Throws a UsageFault that names the file and the line of what is none. */
export function lines(file: string): Line[] {
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (fault) {
    throw new UsageFault(`${file} cannot be read: ${(fault as NodeJS.ErrnoException).code ?? String(fault)}`)
  }
  if (text.length > LARGEST) throw new UsageFault(`${file} is larger than ${LARGEST} bytes`)
  const found: Line[] = []
  let number = 0
  for (const line of text.split('\n')) {
    number++
    if (line.trim() === '') continue
    const at = number
    const fail = (why: string): UsageFault => new UsageFault(`${file}:${at}: ${why}`)
    let value: unknown
    try {
      value = JSON.parse(line)
    } catch {
      throw fail('not JSON')
    }
    if (!isJsonObject(value)) throw fail('not an object')
    found.push({ number, value, fail })
  }
  return found
}
