/** What a confined program may reach besides the system's own read-only files. Paths are absolute. */
export interface Confinement {
  /** `require`: it does not start where it cannot be confined. `prefer`: it starts, and that is said. */
  readonly mode: 'require' | 'prefer'
  readonly read: readonly string[]
  readonly write: readonly string[]
  /** false: not even the loopback interface of the machine. true: the network as it is. */
  readonly network: boolean
  /** Folders that stay empty to it wherever they lie: our own home, with its keys. */
  readonly hidden?: readonly string[]
}

/** How a program runs in the end; shown by `server show`. */
export type Confined = 'bubblewrap' | 'none'
