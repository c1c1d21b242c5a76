import { lstat, readlink, realpath, type FileHandle } from 'node:fs/promises'

/** How to learn where an open file really lies, after it was opened: what a check before opening says may no longer be true. */
export interface Whereabouts {
  /** The real path of what `handle` holds open, or undefined when that cannot be said. `path` is the path it was opened by. */
  readonly of: (handle: FileHandle, path: string) => Promise<string | undefined>
  /** A path by which the open folder itself, and no other that took its place, can be listed. */
  readonly listing: (handle: FileHandle, path: string) => string
}

/** Linux: the kernel names the open file in one step (proc(5), /proc/pid/fd), so nothing can be swapped in between. */
export const byKernel: Whereabouts = {
  of: (handle) =>
    readlink(`/proc/self/fd/${handle.fd}`).catch((cause: unknown) => {
      throw new Error('On Linux this server needs /proc, to see where an open file lies.', { cause })
    }),
  listing: (handle) => `/proc/self/fd/${handle.fd}`,
}

/**
 * Elsewhere: the path must still be its own real path and hold the same inode as the open file. Someone who can swap folders
 * faster than these two steps could still win; the kernel's answer has no such gap, and is used wherever there is one.
 */
export const byName: Whereabouts = {
  of: async (handle, path) => {
    const real = await realpath(path)
    const [here, open] = await Promise.all([lstat(real), handle.stat()])
    return here.dev === open.dev && here.ino === open.ino ? real : undefined
  },
  listing: (_handle, path) => path,
}

export const whereaboutsOfPlatform = process.platform === 'linux' ? byKernel : byName
