import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Home, HomeFault, openHome } from './home.ts'
import { prepareSockets } from './sockets.ts'

/** A process, told apart from a later one that was given the same number. */
export interface ProcessMark {
  readonly pid: number
  /** Clock ticks between boot and its start, field 22 of /proc/PID/stat; undefined where there is no /proc. */
  readonly started: string | undefined
  readonly boot: string | undefined
}

/** The home, owned by this process until it is disposed. */
export interface OwnedHome extends Home, Disposable {
  release(): void
}

/**
 * Makes this process the one owner of the home. Two locks, each enough where the other fails: one that the kernel takes
 * back when its holder dies (a transaction held open on an SQLite file), and a file that names the holder. A file whose
 * process is gone, or whose number went to another process since, is taken over.
 *
 * Throws a HomeFault HOME_BUSY that names the owner.
 */
export function ownHome(folder: string): OwnedHome {
  openHome(folder)
  const guard = takeGuard(folder)
  try {
    const owner = ownerOf(folder)
    if (owner !== undefined && owner.pid !== process.pid) throw busy(folder, owner.pid)
    const file = lockFile(folder)
    writeFileSync(`${file}.new`, `${JSON.stringify(markOf(process.pid))}\n`, { mode: 0o600 })
    renameSync(`${file}.new`, file)
    const sockets = prepareSockets(folder)
    const release = once(() => {
      rmSync(file, { force: true })
      guard.close()
    })
    return { ...openHome(folder), ...sockets, release, [Symbol.dispose]: release }
  } catch (fault) {
    guard.close()
    throw fault
  }
}

/** The living process that the lock file names; undefined where nobody owns the home. */
export function ownerOf(folder: string): ProcessMark | undefined {
  let named: Partial<ProcessMark>
  try {
    named = JSON.parse(readFileSync(lockFile(folder), 'utf8')) as Partial<ProcessMark>
  } catch {
    return undefined
  }
  if (typeof named?.pid !== 'number' || !Number.isSafeInteger(named.pid) || named.pid < 1) return undefined
  const living = markOf(named.pid)
  if (living === undefined) return undefined
  return living.started === named.started && living.boot === named.boot ? living : undefined
}

export function lockFile(folder: string): string {
  return join(folder, 'gateway.lock')
}

/** undefined where no such process is alive. */
export function markOf(pid: number): ProcessMark | undefined {
  try {
    process.kill(pid, 0)
  } catch (fault) {
    // EPERM: it lives, and is somebody else's.
    if ((fault as NodeJS.ErrnoException).code !== 'EPERM') return undefined
  }
  const started = startOf(pid)
  return started === 'ended' ? undefined : { pid, started, boot: readText('/proc/sys/kernel/random/boot_id')?.trim() }
}

function startOf(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`)
  // The second field is the name in parentheses, which may itself hold spaces and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  // A zombie is dead: nobody has taken its exit code yet.
  return fields?.[0] === 'Z' ? 'ended' : fields?.[19]
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

function takeGuard(folder: string): DatabaseSync {
  // Nothing else may open this file: closing any handle on it would give the lock of the whole process back (fcntl(2)).
  const guard = new DatabaseSync(join(folder, 'gateway.guard'), { timeout: 0 })
  try {
    guard.exec('BEGIN EXCLUSIVE')
    return guard
  } catch (fault) {
    guard.close()
    const { errcode } = fault as { errcode?: number }
    // SQLITE_BUSY: another process holds it.
    if (errcode === 5) throw busy(folder, ownerOf(folder)?.pid)
    throw fault
  }
}

function busy(folder: string, pid: number | undefined): HomeFault {
  const who = pid === undefined ? 'another process' : `process ${pid}`
  return new HomeFault(
    'HOME_BUSY',
    `${folder} is owned by ${who}`,
    'Stop it with `countersign stop`, or use another --home.',
  )
}

function once(act: () => void): () => void {
  let done = false
  return () => {
    if (done) return
    done = true
    act()
  }
}
