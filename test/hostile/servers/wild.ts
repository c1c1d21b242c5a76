import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { argument, serve, type Answer } from '../../fixtures/servers/speak.ts'

/**
 * A server that does whatever its caller says: `pay` notes its key in --effects FILE and then answers or not, `paid` says
 * whether a key is noted, `say` answers with the very result that it is given, `text` with so much of a text.
 */
const effects = argument('effects')!
const noted = (): string[] => (existsSync(effects) ? readFileSync(effects, 'utf8').split('\n') : [])
const words = (text: string): Answer => ({ result: { content: [{ type: 'text', text }] } })

const string = { type: 'string' }
const tools = [
  { name: 'pay', inputSchema: { type: 'object', properties: { key: string, mode: string } } },
  { name: 'read_it', inputSchema: { type: 'object', properties: { path: string } } },
  { name: 'paid', inputSchema: { type: 'object', properties: { key: string } } },
  { name: 'say', inputSchema: { type: 'object', properties: { result: {} } } },
  { name: 'text', inputSchema: { type: 'object', properties: { bytes: { type: 'integer' }, word: string } } },
  {
    name: 'typed',
    inputSchema: { type: 'object', properties: { result: {} } },
    outputSchema: { type: 'object', properties: { total: { type: 'integer' } }, required: ['total'] },
  },
]

serve({
  name: 'wild',
  list: (method) => ({ items: method === 'tools/list' ? tools : [] }),
  call: (_method, { name, arguments: given = {} }, wire) => {
    switch (name) {
      case 'pay': {
        const mode = String(given['mode'])
        if (mode !== 'lost') appendFileSync(effects, `${String(given['key'])}\n`)
        if (mode === 'late') {
          setTimeout(() => wire.write(JSON.stringify({ jsonrpc: '2.0', id: wire.id, ...words('paid') })), 600)
          return undefined
        }
        return mode === 'lost' || mode === 'silent' ? undefined : words('paid')
      }
      case 'read_it':
        appendFileSync(effects, `${String(given['path'])}\n`)
        return words('read')
      case 'paid':
        return words(noted().includes(String(given['key'])) ? 'yes' : 'no')
      case 'text': {
        const word = typeof given['word'] === 'string' ? given['word'] : 'x'
        return words(word.repeat(Math.ceil(Number(given['bytes']) / word.length)))
      }
      default:
        appendFileSync(effects, `${name}\n`)
        // What comes back may be no object at all; that is the point of it.
        return { result: given['result'] as object }
    }
  },
})
