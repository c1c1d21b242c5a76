import { type Bubblewrap, type Runnable, confined } from './bubblewrap.ts'
import type { Confined, Confinement } from './confinement.ts'

export type Startable<Run extends Runnable> =
  | { readonly kind: 'start'; readonly program: Run; readonly confined: Confined; readonly why?: string }
  /** It must not run: it has to be confined, and cannot be. */
  | { readonly kind: 'refuse'; readonly why: string }

/** How a program is to be started on this machine. */
export function startableOf<Run extends Runnable>(
  program: Run,
  confinement: Confinement | undefined,
  bubblewrap: Bubblewrap,
): Startable<Run> {
  if (confinement === undefined) return { kind: 'start', program, confined: 'none' }
  if ('path' in bubblewrap)
    return { kind: 'start', program: confined(program, confinement, bubblewrap.path), confined: 'bubblewrap' }
  if (confinement.mode === 'prefer') return { kind: 'start', program, confined: 'none', why: bubblewrap.missing }
  const next = 'install it, or set `sandbox: none` for this server if you trust it with all that you can reach'
  return { kind: 'refuse', why: `it has to be confined, and ${bubblewrap.missing}; ${next}` }
}
