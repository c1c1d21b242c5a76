import { Worker } from 'node:worker_threads'
import type { CodeLimits, Executor, Limit, Run, RunEnd } from './executor.ts'
import type { FromWorker, ToWorker, WorkerData } from './quickjs-worker.ts'

const WORKER = new URL(import.meta.url.endsWith('.ts') ? './quickjs-worker.ts' : './quickjs-worker.js', import.meta.url)
/** What the thread needs beside the program: the engine, and messages on their way. */
const THREAD_MB = 128

/** QuickJS as WebAssembly in a worker thread: a new engine and a new memory for each program, and an end from outside. */
export class QuickJsExecutor implements Executor {
  readonly #most: number
  #running = 0

  /** `most`: programs that run at one time; one more is told so. */
  constructor(most = 4) {
    this.#most = most
  }

  async run(run: Run, limits: CodeLimits, signal: AbortSignal): Promise<RunEnd> {
    if (this.#running >= this.#most) {
      const why = `${this.#most} programs run already; try again when one has ended`
      return { kind: 'broken', why, printed: '', calls: 0 }
    }
    this.#running++
    try {
      return await this.#runApart(run, limits, signal)
    } finally {
      this.#running--
    }
  }

  #runApart({ source, api, at, seed, call }: Run, limits: CodeLimits, signal: AbortSignal): Promise<RunEnd> {
    return new Promise((resolve) => {
      const worker = new Worker(WORKER, {
        workerData: { source, api, at, seed, limits } satisfies WorkerData,
        // Nothing of ours: no environment, no arguments, no standard streams.
        env: {},
        argv: [],
        execArgv: [],
        stdin: false,
        stdout: true,
        stderr: true,
        resourceLimits: { maxOldGenerationSizeMb: THREAD_MB, stackSizeMb: 8 },
      })
      worker.stdout.resume()
      worker.stderr.resume()
      let printed = ''
      let output = 0
      let calls = 0
      let over = false
      type Ending = RunEnd extends infer End ? (End extends RunEnd ? Omit<End, 'printed' | 'calls'> : never) : never
      const finish = (end: Ending): void => {
        if (over) return
        over = true
        clearTimeout(timer)
        signal.removeEventListener('abort', cancel)
        void worker.terminate()
        resolve({ ...end, printed, calls } as RunEnd)
      }
      const stop = (limit: Limit): void => finish({ kind: 'stopped', limit })
      const cancel = (): void => finish({ kind: 'cancelled' })
      const timer = setTimeout(() => stop('wall'), limits.wallMs)
      const fits = (text: string): boolean => {
        output += Buffer.byteLength(text)
        return output <= limits.outputBytes
      }
      signal.addEventListener('abort', cancel, { once: true })
      if (signal.aborted) cancel()

      // A program that never comes back from its own code cannot say so: it is ended from here a little later.
      let beats = 0
      const watch = setInterval(() => {
        const { active } = worker.performance.eventLoopUtilization()
        beats = active
        if (beats > limits.cpuMs + 1_000) stop('cpu')
      }, 250)
      watch.unref()
      worker.once('exit', () => clearInterval(watch))

      worker.on('message', (message: FromWorker) => {
        if (over) return
        switch (message.kind) {
          case 'call': {
            if (++calls > limits.calls) return stop('calls')
            const { id, server, name, text } = message
            void call(server, name, text).then(
              (end) => worker.postMessage({ id, end } satisfies ToWorker),
              () => finish({ kind: 'broken', why: 'a call could not be made' }),
            )
            return
          }
          case 'print':
            if (!fits(`${message.text}\n`)) return stop('output')
            printed += `${message.text}\n`
            return
          case 'returned':
            return fits(message.text) ? finish({ kind: 'returned', value: message.text }) : stop('output')
          case 'threw':
            return finish(thrown(message))
          case 'cpu':
            return stop('cpu')
          default:
            message satisfies never
        }
      })
      worker.once('error', (fault: Error & { code?: string }) =>
        fault.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? stop('memory')
          : finish({ kind: 'broken', why: fault.message.slice(0, 200) }),
      )
      worker.once('exit', () => finish({ kind: 'broken', why: 'the sandbox ended' }))
    })
  }
}

function thrown({ name, message, stack }: Extract<FromWorker, { kind: 'threw' }>) {
  if (name === 'InternalError' && message === 'interrupted') return { kind: 'stopped', limit: 'cpu' } as const
  if (name === 'InternalError' && message === 'out of memory') return { kind: 'stopped', limit: 'memory' } as const
  const line = /program\.ts:(\d+)/.exec(stack)?.[1]
  return {
    kind: 'threw',
    name: name.slice(0, 100),
    message: message.slice(0, 2_000),
    ...(line === undefined ? {} : { line: Number(line) }),
  } as const
}
