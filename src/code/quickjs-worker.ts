// Runs one program in a QuickJS of its own, in a thread that can be ended. Between the two there are only the messages below.
import { parentPort, workerData } from 'node:worker_threads'
import {
  newQuickJSWASMModuleFromVariant,
  newVariant,
  type QuickJSDeferredPromise,
  RELEASE_SYNC,
} from 'quickjs-emscripten'
import type { CallEnd, CodeLimits } from './executor.ts'

export interface WorkerData {
  readonly source: string
  readonly api: Readonly<Record<string, readonly string[]>>
  readonly at: number
  readonly seed: number
  readonly limits: CodeLimits
}

export type FromWorker =
  | {
      readonly kind: 'call'
      readonly id: number
      readonly server: string
      readonly name: string
      readonly text: string
    }
  | { readonly kind: 'print'; readonly text: string }
  | { readonly kind: 'returned'; readonly text: string }
  | { readonly kind: 'threw'; readonly name: string; readonly message: string; readonly stack: string }
  | { readonly kind: 'cpu' }

export interface ToWorker {
  readonly id: number
  readonly end: CallEnd
}

const PAGE = 65_536
/** What the machine needs for itself before a program has anything. */
const OWN_BYTES = 16 << 20

const { source, api, at, seed, limits } = workerData as WorkerData
const port = parentPort!
const say = (message: FromWorker): void => port.postMessage(message)

const pages = Math.ceil((limits.memoryBytes + OWN_BYTES) / PAGE)
// Node has it; its type stands in the library of browsers only.
interface Wasm {
  readonly Memory: new (size: { initial: number; maximum: number }) => never
}
const { Memory } = (globalThis as unknown as { readonly WebAssembly: Wasm }).WebAssembly
const wasmMemory = new Memory({ initial: OWN_BYTES / PAGE, maximum: pages })
const quickjs = await newQuickJSWASMModuleFromVariant(newVariant(RELEASE_SYNC, { wasmMemory }))
const runtime = quickjs.newRuntime()
runtime.setMemoryLimit(limits.memoryBytes)
// More, and deep nesting is the end of the engine's own stack instead of a RangeError in the program.
runtime.setMaxStackSize(128 << 10)

let used = 0
let entered = performance.now()
runtime.setInterruptHandler(() => used + performance.now() - entered > limits.cpuMs)

/** Everything that runs code of the program goes through here: its time is counted, and no other. */
function inside<T>(work: () => T): T {
  entered = performance.now()
  try {
    return work()
  } finally {
    used += performance.now() - entered
    if (used > limits.cpuMs) say({ kind: 'cpu' })
  }
}

const vm = runtime.newContext()
const waiting = new Map<number, QuickJSDeferredPromise>()
let next = 0

const call = vm.newFunction('call', (server, name, text) => {
  const promise = vm.newPromise()
  const id = next++
  waiting.set(id, promise)
  say({ kind: 'call', id, server: vm.getString(server), name: vm.getString(name), text: vm.getString(text) })
  return promise.handle
})
const print = vm.newFunction('print', (text) => {
  say({ kind: 'print', text: vm.getString(text) })
})

// The two functions are handed to a function that keeps them to itself, so that a program cannot reach them, nor name a tool
// that it was not given.
const PRELUDE = `(call, print, api, at, seed) => {
  const { stringify, parse } = JSON
  const answered = (end, stack) => {
    const { ok, text, name, message } = parse(end)
    if (ok) return parse(text)
    const error = new Error(message)
    error.name = name
    // Where the call stands in the program, and not where its answer came in.
    error.stack = stack
    throw error
  }
  const servers = Object.create(null)
  for (const [server, names] of Object.entries(api)) {
    const tools = Object.create(null)
    for (const name of names) {
      tools[name] = (given = {}) => {
        const { stack } = new Error()
        return call(server, name, stringify(given) ?? 'null').then((end) => answered(end, stack))
      }
      Object.freeze(tools[name])
    }
    servers[server] = Object.freeze(tools)
  }
  const shown = (value) => (typeof value === 'string' ? value : stringify(value) ?? String(value))
  const log = (...values) => print(values.map(shown).join(' '))
  const fixed = (value) => ({ value, writable: false, configurable: false, enumerable: true })
  // Clocks stand still and chance is the same each time, so that a run that is taken up again comes to the same calls.
  const Real = Date
  const Fixed = function Date(...given) {
    if (new.target === undefined) return new Real(at).toString()
    return Reflect.construct(Real, given.length === 0 ? [at] : given, new.target)
  }
  Fixed.prototype = Real.prototype
  Real.prototype.constructor = Fixed
  Fixed.now = () => at
  Fixed.parse = Real.parse
  Fixed.UTC = Real.UTC
  let state = seed | 0
  Math.random = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
  Object.defineProperty(globalThis, 'Date', { value: Fixed, writable: true, configurable: true, enumerable: false })
  delete globalThis.performance
  Object.defineProperty(globalThis, 'servers', fixed(Object.freeze(servers)))
  Object.defineProperty(globalThis, 'console', fixed(Object.freeze({ log, info: log, warn: log, error: log, debug: log })))
}`

function threw(error: unknown): void {
  // A program may throw anything, and give its errors any names.
  const given =
    typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : { message: error }
  const text = (key: string, otherwise: string): string => {
    const value = given[key]
    return typeof value === 'string' ? value : value === undefined ? otherwise : (JSON.stringify(value) ?? otherwise)
  }
  say({ kind: 'threw', name: text('name', 'Error'), message: text('message', ''), stack: text('stack', '') })
}

function jobs(): void {
  const done = inside(() => runtime.executePendingJobs())
  if (done.error !== undefined) {
    threw(vm.dump(done.error))
    done.error.dispose()
  }
}

const prelude = vm.unwrapResult(vm.evalCode(PRELUDE, 'prelude'))
const now = vm.newNumber(at)
const chance = vm.newNumber(seed)
const names = vm.unwrapResult(vm.evalCode(`(${JSON.stringify(api)})`, 'api'))
vm.unwrapResult(vm.callFunction(prelude, vm.undefined, call, print, names, now, chance)).dispose()

const begun = inside(() =>
  vm.evalCode(`${source}\n;main().then((value) => JSON.stringify(value === undefined ? null : value))`, 'program.ts'),
)
if (begun.error !== undefined) {
  threw(vm.dump(begun.error))
  begun.error.dispose()
} else {
  const promise = begun.value
  void vm.resolvePromise(promise).then((ended) => {
    if (ended.error !== undefined) {
      threw(vm.dump(ended.error))
      ended.error.dispose()
    } else {
      // A value that JSON has no words for, such as a function, is no value.
      const text: unknown = vm.dump(ended.value)
      say({ kind: 'returned', text: typeof text === 'string' ? text : 'null' })
      ended.value.dispose()
    }
  })
  jobs()
}

port.on('message', ({ id, end }: ToWorker) => {
  const promise = waiting.get(id)
  if (promise === undefined) return
  waiting.delete(id)
  vm.newString(JSON.stringify(end)).consume((handle) => promise.resolve(handle))
  promise.dispose()
  jobs()
})
