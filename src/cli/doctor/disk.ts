import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { fail, failOf, type Finding, ok, warn } from './finding.ts'

const rounds = 20
const page = Buffer.alloc(4096)
// statfs(2): magic numbers of file systems that live in memory.
const inMemory = new Set([0x01021994, 0x858458f6])
const scarceBytes = 256 * 1024 * 1024
// A sync that reaches a device is one to three orders of magnitude dearer than a write that does not.
const leastRatio = 3

/** Does a sync in that folder reach a disk? What is recorded as durable is only as durable as that. */
export function examineDisk(folder: string): Finding[] {
  const what = 'disk'
  try {
    const { type, bavail, bsize } = statfsSync(folder)
    const findings = [examineSync(folder, inMemory.has(type))]
    if (bavail * bsize < scarceBytes)
      findings.push(warn(what, 'less than 256 MiB are free where the ledger is', 'Make room, or move the home.'))
    return findings
  } catch (fault) {
    return [failOf(what, fault)]
  }
}

function examineSync(folder: string, memory: boolean): Finding {
  const what = 'disk'
  if (memory)
    return warn(
      what,
      'the home is in memory, so a power cut takes the ledger with it',
      'Put the home on a disk: --home DIR.',
    )
  const file = join(folder, `.doctor-${process.pid}`)
  const handle = openSync(file, 'wx', 0o600)
  try {
    const written = median(() => writeSync(handle, page))
    const synced = median(() => {
      writeSync(handle, page)
      fsyncSync(handle)
    })
    const says = `a synced write takes ${synced.toFixed(2)} ms, one that is not ${written.toFixed(3)} ms`
    if (synced < written * leastRatio)
      return warn(
        what,
        `${says}: syncs do not seem to reach a disk`,
        'Check the file system and its mount options; overlay and network ones may not sync.',
      )
    return ok(what, says)
  } catch (fault) {
    return fail(
      what,
      `the home cannot be written: ${(fault as Error).message}`,
      'Look at the space and the permissions of the home.',
    )
  } finally {
    closeSync(handle)
    rmSync(file, { force: true })
  }
}

function median(act: () => void): number {
  const times = Array.from({ length: rounds }, () => {
    const began = performance.now()
    act()
    return performance.now() - began
  })
  return times.sort((a, b) => a - b)[rounds / 2]!
}
