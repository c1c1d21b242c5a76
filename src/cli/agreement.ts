import type { Context } from './context.ts'
import { UsageFault } from './fault.ts'

export interface AgreeOptions {
  readonly yes?: boolean
  readonly dryRun?: boolean
  readonly preview?: string
}

export const dryRunOption = ['--dry-run', 'show what would change, and change nothing'] as const
export const yesOption = ['--yes', 'change it without asking'] as const
export const previewOption = [
  '--preview <digest>',
  'change it if it is still what --dry-run showed under this digest',
] as const

/** Does the person agree to what was shown? `digest` is of all that it would change. False: nothing is to be written. */
export async function agrees(
  { io, signal }: Pick<Context, 'io' | 'signal'>,
  { yes, dryRun, preview }: AgreeOptions,
  digest: string,
): Promise<boolean> {
  if (dryRun === true) return false
  if (preview !== undefined && !(preview.length >= 12 && digest.startsWith(preview)))
    throw Object.assign(new Error('what would be changed is not any more what was shown under this digest'), {
      code: 'PREVIEW_STALE',
      hint: 'Run the command with --dry-run again, and look at what it shows.',
    })
  if (yes === true || preview !== undefined) return true
  if (!io.interactive)
    throw new UsageFault(
      'nobody sits at a terminal to agree',
      'Pass --dry-run to see it, and --yes or --preview DIGEST to do it.',
    )
  return (await io.ask('Type yes to do it: ', signal))?.trim().toLowerCase() === 'yes'
}
