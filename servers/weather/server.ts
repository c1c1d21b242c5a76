import { McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

import { inventWeather, skies } from './forecast.ts'

const longest = 100

const question = z.strictObject({
  location: z
    .string()
    .refine((location) => location.trim() !== '', 'names no place')
    .refine((location) => Array.from(location).length <= longest, `may have at most ${longest} characters`)
    .refine((location) => !/\p{Cc}/u.test(location), 'must not hold control characters')
    // Code points, as JSON Schema counts them; zod's own max() counts UTF-16 units.
    .meta({ minLength: 1, maxLength: longest, description: 'Any name of a place, for example Lisbon.' }),
})

const made = z.strictObject({
  location: z.string().describe('As asked for.'),
  temperature_c: z.number().describe('Made-up temperature in degrees Celsius (°C).'),
  sky: z.enum(skies).describe('Made-up state of the sky.'),
  demonstration: z.literal(true).describe('Always true: these values are made up and were never measured.'),
})

/** One server for one connection. All values are made up; see inventWeather(). */
export function createWeatherServer(): McpServer {
  const server = new McpServer(
    { name: 'weather', title: 'Weather (demonstration)', version: '0.1.0' },
    { instructions: 'A demonstration: get_weather answers with made-up values, never with real weather.' },
  )
  server.registerTool(
    'get_weather',
    {
      title: 'Weather of a place (demonstration)',
      description:
        'Demonstration only: gives made-up weather for a place, always the same for the same name. Temperatures are in degrees Celsius.',
      inputSchema: question,
      outputSchema: made,
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
    },
    ({ location }) => {
      const weather = inventWeather(location)
      return { content: [{ type: 'text', text: JSON.stringify(weather) }], structuredContent: { ...weather } }
    },
  )
  return server
}
