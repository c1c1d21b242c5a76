import { readdirSync, readFileSync } from 'node:fs'

/** What Linux says of a process in /proc/PID/stat (proc(5)). */
export interface ProcessStat {
  readonly pid: number
  /** One letter; `Z` is a process that has ended and that nobody has waited for. */
  readonly state: string
  readonly group: number
  /** Clock ticks since the machine started: with the pid, the name of a process that no later one has. */
  readonly startTime: string
}

/** Undefined where there is no such process, or no /proc. */
export function processStat(pid: number): ProcessStat | undefined {
  let text: string
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1')
  } catch {
    return undefined
  }
  // The name of the program stands in parentheses, and may hold some itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, , group] = fields
  const startTime = fields[19]
  if (state === undefined || group === undefined || startTime === undefined) return undefined
  return { pid, state, group: Number(group), startTime }
}

/** The living processes of a group. Empty also where there is no /proc. */
export function groupMembers(group: number): ProcessStat[] {
  const members: ProcessStat[] = []
  for (const name of foldersOfProc()) {
    const stat = /^\d+$/.test(name) ? processStat(Number(name)) : undefined
    if (stat !== undefined && stat.group === group && stat.state !== 'Z') members.push(stat)
  }
  return members
}

export function groupAlive(group: number): boolean {
  try {
    process.kill(-group, 0)
  } catch (fault) {
    return (fault as NodeJS.ErrnoException).code === 'EPERM'
  }
  const leader = processStat(group)
  if (leader !== undefined && leader.state !== 'Z') return true
  // A group of zombies answers too, and nobody can end those, where the machine's first process does not wait for its children.
  return foldersOfProc().length === 0 || groupMembers(group).length > 0
}

/** False where the group is gone already. */
export function signalGroup(group: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(-group, signal)
    return true
  } catch {
    return false
  }
}

/** Differs after each start of the machine, since start times count from there. */
export function bootId(): string | undefined {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()
  } catch {
    return undefined
  }
}

function foldersOfProc(): string[] {
  try {
    return readdirSync('/proc')
  } catch {
    return []
  }
}
