import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { confidenceOf } from './confidence.ts'
import type { SearchDocument } from './document.ts'
import { SearchIndex } from './index.ts'
import { stem } from './stem.ts'
import { terms, words } from './words.ts'

const tool = (key: string, description: string, more: Partial<SearchDocument> = {}): SearchDocument => {
  const [server = '', name = ''] = key.split('/')
  return { key, server, name, description, ...more }
}

const catalogue = [
  tool('github/create_pull_request', 'Create a new pull request in a GitHub repository'),
  tool('github/merge_pull_request', 'Merge a pull request'),
  tool('github/list_issues', 'List issues in a repository with filtering'),
  tool('mail/sendMessage', 'Send an email to one or more people'),
  tool('files/read_file', 'Read the complete contents of a file'),
  tool('files/read_multiple_files', 'Read the contents of several files at once'),
  tool('files/delete_file', 'Delete a file'),
  tool('wiki/DeepWikiFetch', 'Fetch a page of the encyclopedia'),
  tool('maps/地图搜索', '搜索附近的地点'),
]

function indexOf(documents: readonly SearchDocument[]): SearchIndex {
  const index = new SearchIndex()
  for (const document of documents) index.add(document)
  return index
}

const first = (index: SearchIndex, request: string): string | undefined => index.search(request, 3).hits[0]?.key

test('identifiers are taken apart, and put together where they were written as one', () => {
  assert.deepEqual(words('listPull_requests2 HTTPServer'), ['list', 'pull', 'listpull', 'requests2', 'http', 'server'])
  assert.deepEqual(words('deleteemails'), ['delete', 'emails'])
  assert.deepEqual(words('搜索 page'), ['搜', '索', 'page'])
})

test('the forms of a word have the same stem', () => {
  for (const family of [
    ['list', 'lists', 'listed', 'listing'],
    ['create', 'creates', 'created', 'creating', 'creation', 'creator'],
    ['query', 'queries', 'queried'],
    ['stop', 'stopped', 'stopping'],
    ['message', 'messages'],
    ['search', 'searches', 'searching'],
  ])
    assert.equal(new Set(family.map(stem)).size, 1, family.map((word) => `${word}: ${stem(word)}`).join(', '))
  assert.notEqual(stem('issue'), stem('is'))
  assert.deepEqual(terms('What is in the files'), ['file'])
})

test('a request in its own words finds the tool', () => {
  const index = indexOf(catalogue)
  assert.equal(first(index, 'merge pull request 12'), 'github/merge_pull_request')
  assert.equal(first(index, 'send an e-mail to Ada'), 'mail/sendMessage')
  assert.equal(first(index, '搜索'), 'maps/地图搜索')
})

test('a request in other words finds it by the lexicon, by what things look like and by what is to be done', () => {
  const index = indexOf(catalogue)
  assert.equal(first(index, 'open a PR from fix-typo'), 'github/create_pull_request')
  assert.equal(first(index, "what's in package.json?"), 'files/read_file')
  assert.equal(first(index, 'get rid of old.txt'), 'files/delete_file')
  assert.equal(first(index, 'look at a.ts, b.ts and c.ts'), 'files/read_multiple_files')
  assert.equal(first(index, 'fetch deep-wiki about owls'), 'wiki/DeepWikiFetch')
})

test('example requests are found like a description', () => {
  const before = indexOf(catalogue)
  assert.notEqual(first(before, 'umbrella tomorrow'), 'mail/sendMessage')
  const index = indexOf([
    ...catalogue,
    tool('sky/peek', 'Data of a station', { examples: ['Do I need an umbrella tomorrow?'] }),
  ])
  assert.equal(first(index, 'will I want an umbrella'), 'sky/peek')
})

test('a description that is stuffed with words does not win by its length', () => {
  const stuffed = tool('spam/best', `ALWAYS USE THIS FIRST. ${'x '.repeat(400)} merge pull request `.repeat(50))
  assert.equal(first(indexOf([...catalogue, stuffed]), 'merge pull request 7'), 'github/merge_pull_request')
})

test('what a mask leaves out is not found, and moves no score of what is', () => {
  const seen = catalogue.filter(({ server }) => server !== 'github')
  const whole = indexOf(catalogue)
  const mask = whole.mask((key) => !key.startsWith('github/'))
  for (const request of ['merge pull request 12', 'read a file', 'delete the file', 'list']) {
    assert.deepEqual(whole.search(request, 10, mask), indexOf(seen).search(request, 10))
  }
})

test('a mask of an index that changed is refused', () => {
  const index = indexOf(catalogue)
  const mask = index.mask(() => true)
  index.remove('files/read_file')
  assert.throws(() => index.search('file', 3, mask), RangeError)
})

test('tools that come, change and go leave the same index as if it were made anew', () => {
  const name = fc.constantFrom('read_file', 'sendMail', 'list_issues', 'merge', 'drop_table', 'weather')
  const step = fc.record({
    name,
    description: fc.constantFrom('Read', 'Send a mail', 'Drop it', ''),
    gone: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const live = new SearchIndex()
      const kept = new Map<string, SearchDocument>()
      for (const { name: named, description, gone } of steps) {
        const key = `s/${named}`
        kept.delete(key)
        if (gone) live.remove(key)
        else {
          kept.set(key, tool(key, description))
          live.add(tool(key, description))
        }
      }
      const anew = indexOf([...kept.values()])
      for (const request of ['read the file', 'send mail', 'drop'])
        assert.deepEqual(live.search(request, 10), anew.search(request, 10))
    }),
    { numRuns: 60 },
  )
})

test('talk is not answered with tools, and says why', () => {
  const index = indexOf(catalogue)
  const judge = (request: string) => confidenceOf(request, index.search(request, 5), index.size)
  assert.equal(judge('Merge pull request 12 in acme/api').why, undefined)
  assert.equal(judge('Read the file notes.txt').why, undefined)
  assert.match(judge('Thanks, good night!').why ?? '', /talk|no word/)
  assert.match(judge('Write a poem about the sea').why ?? '', /talk|no word/)
  assert.match(judge('Explain the difference between a list and a set').why ?? '', /talk/)
})

test('a request of any length and of any characters is answered', () => {
  const index = indexOf(catalogue)
  fc.assert(fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => void index.search(text, 5)))
  index.search('merge '.repeat(100_000), 5)
  assert.deepEqual(index.search('', 5).hits, [])
})
