import { type CallToolResult, McpServer, type ServerContext } from '@modelcontextprotocol/server'

import { argumentsBy, published, readArguments, readResult, searchArguments, searchResult } from './contract.ts'
import { type Answer, given, type Problem, refused } from './problem.ts'
import { readNote } from './read.ts'
import type { Root } from './root.ts'
import { type Limits, rulesOf, standardLimits } from './rules.ts'
import { searchNotes } from './search.ts'

export { openRoot, type Root } from './root.ts'

const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false }

/**
 * One server for one connection. `root` comes from openRoot(), so that a folder that cannot serve is noticed before any client connects.
 * @param report gets the faults whose text no caller may see
 */
export function createLearningNotesServer(
  root: Root,
  limits: Limits = standardLimits,
  report: (fault: Error) => void = () => {},
): McpServer {
  const server = new McpServer(
    { name: 'learning-notes', title: 'Learning notes', version: '0.1.0' },
    {
      instructions:
        'Find lines in the Markdown notes of one folder with search_notes, read a note page by page with read_note, and see learning://rules for what may be asked.',
    },
  )

  const search = searchArguments(limits)
  server.registerTool(
    'search_notes',
    {
      title: 'Search the notes',
      description:
        'Looks for a text in the Markdown notes and gives the lines that hold it, each with the path and offset for read_note.',
      inputSchema: published(search),
      outputSchema: searchResult,
      annotations,
    },
    (args, context) =>
      answer(context, report, async (signal) => {
        const request = argumentsBy(search, args)
        return request.ok ? given(await searchNotes(root, request.value, limits, signal)) : request
      }),
  )

  const read = readArguments(limits)
  server.registerTool(
    'read_note',
    {
      title: 'Read a note',
      description:
        'Gives whole lines of one Markdown note, from offset on and at most limit of them, and says whether more follow.',
      inputSchema: published(read),
      outputSchema: readResult,
      annotations,
    },
    (args, context) =>
      answer(context, report, async (signal) => {
        const request = argumentsBy(read, args)
        return request.ok ? readNote(root, request.value, limits, signal) : request
      }),
  )

  server.registerResource(
    'rules',
    'learning://rules',
    {
      title: 'Rules of the notes',
      description:
        'Which folder and files may be read, how paths, lines and matches are understood, all limits and all error codes.',
      mimeType: 'application/json',
    },
    (uri) => ({
      contents: [
        { uri: uri.href, mimeType: 'application/json', text: JSON.stringify(rulesOf(root.name, limits), null, 2) },
      ],
    }),
  )
  return server
}

/** Runs one call. Whatever goes wrong, the caller gets a sentence of our own: a fault's message may hold absolute paths. */
async function answer(
  context: ServerContext,
  report: (fault: Error) => void,
  work: (signal: AbortSignal) => Promise<Answer<object>>,
): Promise<CallToolResult> {
  const { signal } = context.mcpReq
  const done = await work(signal).catch((fault: unknown) => {
    if (signal.aborted) return refused('cancelled')
    report(fault instanceof Error ? fault : new Error(String(fault)))
    return refused('read_failed')
  })
  return done.ok ? resultOf(done.value) : errorOf(done.problem)
}

// The same as text, for clients that do not read structuredContent (2026-07-28, server/tools, "Structured Content").
function resultOf(value: object): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: { ...value } }
}

function errorOf({ code, say }: Problem): CallToolResult {
  return { content: [{ type: 'text', text: `${code}: ${say}` }], isError: true }
}
