import * as first from './sqlite-1.ts'
import * as attempts from './sqlite-2.ts'
import * as sealed from './sqlite-3.ts'

export interface Migration {
  /** Never changed once it has been released: a ledger remembers by it what was done to it. */
  readonly name: string
  readonly schema: string
}

/** In the order in which they are applied; each in a transaction of its own. New ones go to the end of their series. */
export const migrations: readonly Migration[] = [first, attempts, sealed]
