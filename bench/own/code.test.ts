import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compare } from './code.ts'

test('a bulk job by code mode ends like that by plain calls, for a small part of the tokens', async () => {
  const [plain, program] = await compare(100)
  assert.deepEqual([plain?.written, program?.written], [10, 10])
  assert.deepEqual([plain?.calls, program?.calls], [11, 11])
  assert.ok(program!.tokens < plain!.tokens / 5, `${program!.tokens} of ${plain!.tokens}`)
})
