import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isDigest, type Digest } from '../words/digest.ts'
import { isJsonObject, member, textMember, type Json } from '../words/json.ts'
import { bootId, groupAlive, groupMembers, processStat, signalGroup } from './processes.ts'

/** What is noted of a child, so that a later start can end it if this one dies before it does. No argument is noted. */
interface ChildNote {
  readonly pid: number
  readonly startTime: string
  readonly boot: string
  readonly command: Digest
  /** The processes of its group, as last seen: the child may end before its own children. */
  readonly members: readonly { readonly pid: number; readonly startTime: string }[]
}

export interface ChildRecord {
  /** Notes the members of the group anew; to be called when the child has come up. */
  refresh(): void
  erase(): void
}

/** Notes a child that leads its own process group. Does nothing where the machine has no /proc. Throws what the disk throws. */
export function recordChild(folder: string, pid: number, command: Digest): ChildRecord | undefined {
  const stat = processStat(pid)
  const boot = bootId()
  if (stat === undefined || boot === undefined) return undefined
  const file = join(folder, `${pid}.json`)
  const note = (members: ChildNote['members']): void => {
    const text = JSON.stringify({ pid, startTime: stat.startTime, boot, command, members } satisfies ChildNote)
    writeFileSync(`${file}.new`, text, { mode: 0o600 })
    renameSync(`${file}.new`, file)
  }
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  note([])
  const refresh = (): void => note(groupMembers(pid).map(({ pid, startTime }) => ({ pid, startTime })))
  return { refresh, erase: () => rmSync(file, { force: true }) }
}

/**
 * Ends what an earlier process of the same home left running, and answers the leaders' pids. A group is ended only where a
 * process of it is, by pid and start time, one that was noted: pids are given out again.
 */
export async function reapOrphans(folder: string, graceMs = 1000): Promise<readonly number[]> {
  const groups: number[] = []
  for (const name of namesIn(folder)) {
    const file = join(folder, name)
    const note = readNote(file)
    rmSync(file, { force: true })
    if (note !== undefined && note.boot === bootId() && stillRuns(note)) groups.push(note.pid)
  }
  await Promise.all(groups.map((group) => endGroup(group, graceMs)))
  return groups
}

/** SIGTERM, and SIGKILL after the grace. Answers whether the group is gone. */
export async function endGroup(group: number, graceMs: number): Promise<boolean> {
  if (!signalGroup(group, 'SIGTERM') || (await gone(group, graceMs))) return true
  signalGroup(group, 'SIGKILL')
  return gone(group, 1000)
}

/** True as soon as the group has ended. There is no event for processes that are not our own children. */
export async function gone(group: number, withinMs: number): Promise<boolean> {
  const until = performance.now() + withinMs
  for (let pause = 2; groupAlive(group); pause = Math.min(pause * 2, 50)) {
    if (performance.now() >= until) return false
    await sleep(pause)
  }
  return true
}

function stillRuns(note: ChildNote): boolean {
  return [note, ...note.members].some(({ pid, startTime }) => {
    const stat = processStat(pid)
    return stat !== undefined && stat.startTime === startTime && stat.group === note.pid
  })
}

function readNote(file: string): ChildNote | undefined {
  let note: Json
  try {
    note = JSON.parse(readFileSync(file, 'utf8')) as Json
  } catch {
    return undefined
  }
  if (!isJsonObject(note)) return undefined
  const { pid, members } = note
  const startTime = textMember(note, 'startTime')
  const boot = textMember(note, 'boot')
  const command = textMember(note, 'command')
  // Group 1 and group 0 are never a child's: a signal to them would reach ourselves or everything.
  if (typeof pid !== 'number' || !Number.isSafeInteger(pid) || pid < 2) return undefined
  if (startTime === undefined || boot === undefined || command === undefined || !isDigest(command)) return undefined
  return { pid, startTime, boot, command, members: Array.isArray(members) ? members.flatMap(readMember) : [] }
}

function readMember(value: Json): ChildNote['members'] {
  if (!isJsonObject(value)) return []
  const pid = member(value, 'pid')
  const startTime = textMember(value, 'startTime')
  return typeof pid === 'number' && startTime !== undefined ? [{ pid, startTime }] : []
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).filter((name) => /^\d+\.json$/.test(name))
  } catch {
    return []
  }
}
