import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type RequestListener, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { Secret } from '../../words/secret.ts'
import { ModelFault } from '../port.ts'
import { faultOf, pauseAsked } from './fault.ts'
import { FAILED_RESULTS, wireFetch } from './wire.ts'

async function serve(listener: RequestListener) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

test('a redirect is not followed, so that a key goes nowhere else', async () => {
  let reached = 0
  await using other = await serve((_, response) => {
    reached++
    response.end('{}')
  })
  await using provider = await serve((_, response) => {
    response.writeHead(307, { location: `${other.url}/steal` }).end()
  })
  await assert.rejects(
    wireFetch('anthropic')(provider.url, { method: 'POST', body: '{}', headers: { 'x-api-key': 'k' } }),
  )
  assert.equal(reached, 0)
})

test('an answer without an end is cut off', async () => {
  const chunk = Buffer.alloc(1024 * 1024, 32)
  await using provider = await serve((_, response) => {
    response.writeHead(200)
    const more = (): void => {
      while (!response.destroyed && response.write(chunk)) continue
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  })
  const response = await wireFetch('anthropic')(provider.url)
  await assert.rejects(response.text(), /larger than 33554432 bytes/)
})

test('the list of failed results mends the body and leaves the request', async () => {
  const seen: { body: unknown; header: unknown }[] = []
  await using provider = await serve((request, response) => {
    let text = ''
    request.on('data', (piece: Buffer) => (text += piece.toString()))
    request.on('end', () => {
      seen.push({ body: JSON.parse(text), header: request.headers[FAILED_RESULTS] })
      response.end('{}')
    })
  })
  const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: [] })
  const body = JSON.stringify({ messages: [{ role: 'user', content: [result('a,b'), result('c')] }] })
  const headers = { [FAILED_RESULTS]: encodeURIComponent('a,b') }
  await wireFetch('anthropic')(provider.url, { method: 'POST', body, headers })
  assert.deepEqual(seen, [
    {
      body: { messages: [{ role: 'user', content: [{ ...result('a,b'), is_error: true }, result('c')] }] },
      header: undefined,
    },
  ])
})

test('the pause that a provider asks for is read in its three forms', () => {
  const now = Date.parse('2026-11-30T12:00:00Z')
  assert.equal(pauseAsked({ 'Retry-After': '2' }, now), 2000)
  assert.equal(pauseAsked({ 'retry-after': '2', 'retry-after-ms': '150' }, now), 150)
  assert.equal(pauseAsked({ 'retry-after': 'Mon, 30 Nov 2026 12:00:05 GMT' }, now), 5000)
  assert.equal(pauseAsked({ 'retry-after': 'Mon, 30 Nov 2026 11:00:00 GMT' }, now), 0)
  assert.equal(pauseAsked({ 'retry-after': 'soon' }, now), undefined)
  assert.equal(pauseAsked(undefined, now), undefined)
})

test('of what a provider package throws only the status and a short message without the key are kept', () => {
  const thrown = {
    message: `key abcd1234 ${'x'.repeat(1000)}`,
    statusCode: 503,
    requestBodyValues: { prompt: 'private' },
  }
  const fault = faultOf(thrown, new Secret('abcd1234'))
  assert.ok(fault instanceof ModelFault && fault.retryable)
  assert.match(fault.message, /^HTTP 503: key \[secret\] x+$/)
  assert.ok(fault.message.length <= 300)
  assert.equal(faultOf({ message: 'no', statusCode: 400, isRetryable: false }, undefined).retryable, false)
  assert.equal(faultOf('odd', undefined).message, 'odd')
})
