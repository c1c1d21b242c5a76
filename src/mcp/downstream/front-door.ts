import type { Call } from './call.ts'
import { Callers } from './callers.ts'
import { Changes } from './changes.ts'
import type { DownstreamOptions } from './options.ts'
import { ParkedCalls } from './parked.ts'
import type { Ports } from './ports.ts'
import { Pulse } from './pulse.ts'
import { Subscriptions } from './subscriptions.ts'
import { Tasks } from './tasks.ts'

/** What all connections of one listener, or one pipe, have in common. */
export interface FrontDoor {
  readonly ports: Ports
  readonly options: DownstreamOptions
  readonly pulse: Pulse
  readonly callers: Callers
  readonly changes: Changes
  readonly parked: ParkedCalls<Call>
  readonly subscriptions: Subscriptions
  readonly tasks: Tasks
  close(): void
}

/** Throws a RangeError where the key that seals our state is not one of AES-256. */
export function openFrontDoor(ports: Ports, options: DownstreamOptions): FrontDoor {
  if (options.stateKey.byteLength !== 32) throw new RangeError('the key for request state has 32 bytes')
  const { keepAliveMs, progressMs, intakeMs, writeMs, sessionIdleMs, coalesceMs } = options.limits
  // Half of the shortest wait, so that nothing is late by more than half of it; a second is fine enough for people.
  const shortest = Math.min(keepAliveMs, progressMs, intakeMs, writeMs, sessionIdleMs)
  const pulse = new Pulse(Math.max(10, Math.min(1_000, shortest / 2)))
  const changes = new Changes(ports.shelf, coalesceMs)
  const subscriptions = new Subscriptions(changes, pulse, options.limits)
  const tasks = new Tasks(options.limits)
  const parked = new ParkedCalls<Call>(pulse, options.limits)
  return {
    ports,
    options,
    pulse,
    callers: new Callers(),
    changes,
    parked,
    subscriptions,
    tasks,
    close: () => {
      tasks.close()
      parked.close()
      subscriptions.close()
      changes.close()
      pulse.stop()
    },
  }
}
