import { parseArgs } from 'node:util'

import { serveStdio } from '@modelcontextprotocol/server/stdio'

import { createLearningNotesServer, openRoot } from './server.ts'
import { standardLimits } from './rules.ts'

try {
  const { values } = parseArgs({ options: { root: { type: 'string' } } })
  if (values.root === undefined) throw new Error('--root is missing.')
  const root = await openRoot(values.root)
  const report = (fault: Error) => console.error(`learning-notes: ${fault.message}`)
  serveStdio(() => createLearningNotesServer(root, standardLimits, report), { onerror: report })
} catch (fault) {
  const reason = fault instanceof Error ? fault.message : String(fault)
  // stdout carries nothing but the protocol.
  console.error(`learning-notes: ${reason}\nUsage: node servers/learning-notes/main.ts --root DIR`)
  process.exitCode = 2
}
