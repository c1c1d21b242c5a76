import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { uriMatcher } from './uri-template.ts'

test('a simple expression stands for one segment, a reserved one for several', () => {
  const user = uriMatcher('db://users/{id}/profile')!
  assert.equal(user('db://users/17/profile'), true)
  for (const uri of [
    'db://users//profile',
    'db://users/1/2/profile',
    'db://users/17/profile/x',
    'xdb://users/17/profile',
    'db://users/1?x/profile',
    'db://users/1 7/profile',
  ]) {
    assert.equal(user(uri), false, uri)
  }
  const file = uriMatcher('file:///{+path}')!
  assert.equal(file('file:///a/b/c.md'), true)
  assert.equal(file('file:///'), false)
  assert.equal(uriMatcher('a://{x}.{y}')!('a://1.2.3'), true)
})

test('what is no expression is taken literally', () => {
  const odd = uriMatcher('x://a.b+c/(d)[e]|f^g$h*{id}?k\\')!
  assert.equal(odd('x://a.b+c/(d)[e]|f^g$h*7?k\\'), true)
  assert.equal(odd('x://aXb+c/(d)[e]|f^g$h*7?k\\'), false)
})

test('a template that uses more of RFC 6570, or is not well formed, matches nothing at all', () => {
  for (const template of [
    'x://{?q}',
    'x://{/p}',
    'x://{a,b}',
    'x://{a:3}',
    'x://{a*}',
    'x://{',
    'x://}',
    'x://{}',
    `x://${'{a}'.repeat(40)}`,
    'x'.repeat(2000),
  ]) {
    assert.equal(uriMatcher(template), undefined, template)
  }
})

test('a hostile template takes no more time than a kind one', () => {
  const match = uriMatcher(`x://${'{a}-'.repeat(30)}end`)!
  const began = performance.now()
  assert.equal(match(`x://${'a-'.repeat(1000)}`), false)
  assert.equal(match(`x://${'a-'.repeat(5000)}end`), false)
  assert.ok(performance.now() - began < 500)
})

test('every expansion of a template is matched by it', () => {
  const value = fc.string({
    unit: fc.constantFrom('a', 'Z', '0', '-', '.', '_', '~', '%41'),
    minLength: 1,
    maxLength: 8,
  })
  fc.assert(
    fc.property(fc.array(value, { minLength: 1, maxLength: 4 }), (values) => {
      const template = values.map((_, n) => `s${n}/{v${n}}`).join('/')
      const uri = values.map((text, n) => `s${n}/${text}`).join('/')
      assert.equal(uriMatcher(`x://${template}`)!(`x://${uri}`), true)
    }),
  )
})
