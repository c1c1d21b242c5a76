import { createHash } from 'node:crypto'

export const skies = ['clear', 'partly cloudy', 'cloudy', 'fog', 'rain', 'thunderstorm', 'snow'] as const

export interface Weather {
  /** as asked for */
  readonly location: string
  /** degrees Celsius, one decimal */
  readonly temperature_c: number
  readonly sky: (typeof skies)[number]
  /** always true: nothing here was measured */
  readonly demonstration: true
}

/**
 * Made-up weather that depends on the location's text only, so that the same question has the same answer on every machine.
 * Letter case, surrounding spaces and Unicode composition do not count.
 */
export function inventWeather(location: string): Weather {
  const seed = createHash('sha256').update(location.normalize('NFC').trim().toLowerCase()).digest()
  const temperature_c = (seed.readUInt16BE(0) % 501) / 10 - 15
  const sky = skies[seed.readUInt16BE(2) % skies.length] ?? 'clear'
  const plausible = sky === 'snow' && temperature_c > 3 ? 'rain' : sky
  return { location, temperature_c: Math.round(temperature_c * 10) / 10, sky: plausible, demonstration: true }
}
