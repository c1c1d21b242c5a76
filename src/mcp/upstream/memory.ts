import type { Json } from '../../words/json.ts'
import { noStrays, type Link, type LinkEvents, type Strays } from './link.ts'
import { Pipe } from './pipe.ts'
import type { MemoryEnd } from './upstream.ts'

/** One end of a pair: a Transport as both generations of the MCP SDK know it. */
export interface PairedEnd extends MemoryEnd {
  // Generic, since that is what the SDKs declare: anything narrower could not be given to them.
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters
  onmessage?: (<Message>(message: Message) => void) | undefined
}

/** What one end holds back until the other has started. */
const MOST_HELD = 1000

/** Two ends: what one sends, the other receives, as a copy, in order, and never before it has started. */
export function memoryPair(): [ours: PairedEnd, theirs: PairedEnd] {
  const ours = new End()
  const theirs = new End()
  ours.join(theirs)
  return [ours, theirs]
}

class End implements PairedEnd {
  onmessage: PairedEnd['onmessage']
  onclose?: (() => void) | undefined
  onerror?: ((error: Error) => void) | undefined
  #other: End | undefined
  #held: string[] | undefined = []
  #closed = false

  join(other: End): void {
    this.#other = other
    other.#other = this
  }

  start(): Promise<void> {
    const held = this.#held ?? []
    this.#held = undefined
    for (const text of held) this.#deliver(text)
    return Promise.resolve()
  }

  async send(message: unknown): Promise<void> {
    const other = this.#other
    if (this.#closed || other === undefined) throw new Error('the pair is closed')
    // As text, since what two parties in one process share they could change under each other.
    const text = JSON.stringify(message)
    if (other.#held === undefined) other.#deliver(text)
    else if (other.#held.length >= MOST_HELD) throw new Error('the other end has not started')
    else other.#held.push(text)
  }

  close(): Promise<void> {
    if (!this.#closed) {
      this.#closed = true
      const other = this.#other
      this.onclose?.()
      void other?.close()
    }
    return Promise.resolve()
  }

  #deliver(text: string): void {
    queueMicrotask(() => {
      if (this.#closed) return
      try {
        this.onmessage?.(JSON.parse(text) as Json)
      } catch (fault) {
        this.onerror?.(fault instanceof Error ? fault : new Error(String(fault)))
      }
    })
  }
}

/** Speaks with a server in this process. Throws what `open` or the start of the end throws. */
export async function openMemory(
  open: () => Promise<MemoryEnd>,
  events: LinkEvents,
  strays: Strays = noStrays(),
): Promise<Link> {
  const end = await open()
  let ending = false
  const pipe = new Pipe(
    (text) => {
      end
        .send(JSON.parse(text))
        .catch((fault: unknown) => end.onerror?.(fault instanceof Error ? fault : new Error(String(fault))))
      return undefined
    },
    events,
    strays,
  )
  Object.assign(end, {
    onmessage: (message: unknown) => pipe.receive(Buffer.from(JSON.stringify(message) ?? '', 'utf8')),
    onclose: () => {
      pipe.fail('closed', 'the server closed the connection')
      if (!ending) events.down('the server closed the connection')
    },
  } satisfies Partial<MemoryEnd>)
  await end.start()
  return {
    transport: 'memory',
    pid: undefined,
    open: (leg) => pipe.open(leg),
    post: (text) => pipe.post(text),
    nextId: () => pipe.nextId(),
    speak: (revision) => pipe.speak(revision),
    settled: () => {},
    retire: () => Promise.resolve(),
    close: async () => {
      ending = true
      pipe.fail('closed', 'the connection was closed')
      await end.close()
    },
    errorOutput: () => '',
  }
}
