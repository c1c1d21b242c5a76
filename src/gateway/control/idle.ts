import type { Activity } from './control.ts'

/** How long a gateway that nobody started by hand outlives its last use. */
export const idleMs = 10 * 60_000

/**
 * Resolves true when nothing has run and nothing has begun for that long, false when the signal aborts first. Something
 * that begins and ends between two looks is seen by the count of beginnings.
 */
export function untilIdle(activity: () => Activity, forMs: number, signal: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    let { begun } = activity()
    let quietSince = performance.now()
    const end = (idle: boolean) => {
      clearInterval(timer)
      signal.removeEventListener('abort', leave)
      resolve(idle)
    }
    const leave = () => end(false)
    const look = () => {
      const now = activity()
      if (now.running > 0 || now.begun !== begun) {
        begun = now.begun
        quietSince = performance.now()
      } else if (performance.now() - quietSince >= forMs) end(true)
    }
    const timer = setInterval(look, Math.max(10, Math.min(15_000, forMs / 10)))
    timer.unref()
    signal.addEventListener('abort', leave, { once: true })
    if (signal.aborted) leave()
  })
}
