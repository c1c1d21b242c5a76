import { parseArgs } from 'node:util'

import { serveStdio } from '@modelcontextprotocol/server/stdio'

import { createWeatherServer } from './server.ts'

try {
  parseArgs({ options: {} })
  serveStdio(createWeatherServer, { onerror: (fault) => console.error(`weather: ${fault.message}`) })
} catch (fault) {
  const reason = fault instanceof Error ? fault.message : String(fault)
  // stdout carries nothing but the protocol.
  console.error(`weather: ${reason}\nUsage: node servers/weather/main.ts (it takes no arguments)`)
  process.exitCode = 2
}
