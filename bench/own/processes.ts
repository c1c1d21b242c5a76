import { readdirSync, readFileSync } from 'node:fs'

const nanosPerTick = 1e7

/**
 * Nanoseconds of CPU that a process and all that it started have taken. Left out are processes below it that run one of
 * `without`: an upstream that a gateway starts is not the gateway's own cost. 0 where there is no such process.
 */
export function cpuNanos(root: number, without: readonly string[]): number {
  return treeOf(root)
    .filter((pid) => pid === root || !runs(pid, without))
    .reduce((sum, pid) => sum + nanosOf(pid), 0)
}

/** The process and all below it, those above first. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? Number(statOf(Number(name))?.[1]) : Number.NaN
    if (!Number.isNaN(parent)) children.set(parent, [...(children.get(parent) ?? []), Number(name)])
  }
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** Is the script of that Node process one of those? A shell that only names it is not meant. */
function runs(pid: number, scripts: readonly string[]): boolean {
  const [program = '', script = ''] = read(`/proc/${pid}/cmdline`).split('\0')
  return program.endsWith('node') && scripts.includes(script)
}

function nanosOf(pid: number): number {
  // schedstat counts nanoseconds, stat ticks of ten milliseconds; not every kernel keeps the former.
  const perThread = threadsOf(pid).map((thread) => read(`/proc/${pid}/task/${thread}/schedstat`).split(' ')[0]!)
  if (perThread.some((text) => text !== '')) return perThread.reduce((sum, text) => sum + Number(text), 0)
  const stat = statOf(pid)
  return stat === undefined ? 0 : (Number(stat[11]) + Number(stat[12])) * nanosPerTick
}

function threadsOf(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/task`)
  } catch {
    return []
  }
}

/** The fields of /proc/PID/stat after the name of the program, which stands in parentheses and may hold some (proc(5)). */
function statOf(pid: number): string[] | undefined {
  const text = read(`/proc/${pid}/stat`)
  return text === '' ? undefined : text.slice(text.lastIndexOf(')') + 2).split(' ')
}

function read(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}
