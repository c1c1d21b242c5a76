import assert from 'node:assert/strict'
import { test } from 'node:test'

test('the library exports these names; a change here is a decision and gets a line in the changelog', async () => {
  assert.deepEqual(Object.keys(await import('countersign')).toSorted(), [
    'createCountersign',
    'memoryPair',
    'parseModel',
    'refusals',
    'runTask',
    'verifyExport',
  ])
})
