import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { hostOf, urlOf, withoutQuery } from './url.ts'

const url = (text: string) => asText(urlOf(text))
const host = (text: string) => asText(hostOf(text))
const asText = (answer: ReturnType<typeof urlOf>) => (typeof answer === 'string' ? answer : answer.code)

test('a URL is taken in its normal form', () => {
  assert.equal(url('HTTPS://Docs.Example.COM:443/a/../b?q=1#top'), 'https://docs.example.com/b?q=1')
  assert.equal(url('http://example.com'), 'http://example.com/')
  assert.equal(url('https://example.com:8443/x'), 'https://example.com:8443/x')
  assert.equal(url('https://bücher.example/'), 'https://xn--bcher-kva.example/')
})

test('an IP address has one form, however it was written', () => {
  for (const form of [
    '127.0.0.1',
    '2130706433',
    '0x7f.1',
    '0177.0.0.1',
    '0x7f000001',
    '127.1',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[0:0:0:0:0:FFFF:127.0.0.1]',
  ]) {
    assert.equal(url(`http://${form}/`), 'http://127.0.0.1/', form)
    assert.equal(host(form), '127.0.0.1', form)
    assert.equal(host(`${form}:8080`), '127.0.0.1:8080', form)
  }
  assert.equal(url('http://[0:0::1]/'), 'http://[::1]/')
})

test('only http and https are URLs', () => {
  for (const text of [
    'file:///etc/passwd',
    'ftp://example.com/',
    'javascript:alert(1)',
    'data:text/plain,x',
    '/etc/passwd',
    '//example.com/',
    'example.com',
  ])
    assert.equal(url(text), 'SCOPE_UNSAFE', text)
})

test('what parsers read differently is refused', () => {
  for (const text of [
    'http:/example.com/',
    'http:example.com/',
    'http:///example.com/',
    'http:\\\\example.com\\',
    'http://good.test\\@evil.test/',
    'http://user:pass@example.com/',
    'http://good.test@evil.test/',
    'http://@evil.test/',
    'http://ex%61mple.com/',
    'http://example.com%2f.evil.test/',
    ' http://example.com/',
    'http://exa\tmple.com/',
    'http://exam\nple.com/',
    'http://example.com/\u0000',
    'http://evil.test./',
    'http://-evil.test/',
    'http://ⓔvil.test/',
    'http://１２７.0.0.1/',
    'http://evil。test/',
    'http://exa\u00admple.com/',
    'http://example.com/public/..%2fadmin',
    'http://example.com/%2e%2e/admin',
    'http://example.com/a%5cb',
    'http://example.com/%252e%252e/x',
    'http://example.com/%00',
  ])
    assert.equal(url(text), 'SCOPE_UNSAFE', text)
})

test('what is no URL at all is unreadable', () => {
  for (const text of ['', 'http://exa mple.com/', 'http://[::1/', 'http://example.com:99999/', 'http://1.2.3.4.5/'])
    assert.equal(url(text), 'SCOPE_UNREADABLE', text)
})

test('a host is a name with or without a port, or the host of a URL', () => {
  assert.equal(host('API.Example.com'), 'api.example.com')
  assert.equal(host('api.example.com:80'), 'api.example.com:80')
  assert.equal(host('api.example.com:443'), 'api.example.com:443')
  assert.equal(host('https://api.example.com:443/x'), 'api.example.com')
  assert.equal(host('http://api.example.com:8080/x'), 'api.example.com:8080')
  assert.equal(host('[::1]:80'), '[::1]:80')
  for (const text of [
    'example.com/x',
    'user@example.com',
    'example.com?x',
    'evil.test.',
    '-x.test',
    'a\\b',
    'example.com#',
    'exa\u200bmple.com',
  ])
    assert.equal(host(text), 'SCOPE_UNSAFE', text)
  for (const text of ['', '::1', 'a:b', 'a b.test']) assert.equal(host(text), 'SCOPE_UNREADABLE', text)
})

test('a query does not go on the record', () => {
  assert.equal(withoutQuery('https://h.test/a?token=x'), 'https://h.test/a?…')
  assert.equal(withoutQuery('https://h.test/a'), 'https://h.test/a')
})

const piece = fc.constantFrom(
  'http',
  'https',
  '://',
  ':',
  '/',
  '//',
  '\\',
  '@',
  '.',
  '..',
  '%2e',
  '%2f',
  '%',
  '?',
  '#',
  '[',
  ']',
  '::1',
  '127.0.0.1',
  '0x7f',
  'evil.test',
  'good.test',
  'ⓔ',
  '。',
  ' ',
  '\t',
  '-',
  '8080',
  'é',
)

test('whatever is accepted is a fixed point that the WHATWG parser reads in the same way, without credentials', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.webUrl({ withQueryParameters: true, withFragments: true }),
        fc.array(piece, { maxLength: 9 }).map((all) => `http://${all.join('')}`),
      ),
      (text) => {
        const value = urlOf(text)
        if (typeof value !== 'string') return
        const parsed = new URL(value)
        assert.equal(parsed.href, value)
        assert.equal(urlOf(value), value)
        assert.match(parsed.protocol, /^https?:$/)
        assert.equal(parsed.username + parsed.password + parsed.hash, '')
        assert.match(parsed.hostname, /^[a-z0-9._~!$&'()*+,;=[\]:-]+$/)
        // The same host and path as of the text itself, but for an IPv4 address that came as IPv6.
        const raw = new URL(text)
        assert.equal(parsed.pathname, raw.pathname)
        if (!raw.hostname.startsWith('[::ffff:')) assert.equal(parsed.host, raw.host)
      },
    ),
    { numRuns: 2000 },
  )
})
