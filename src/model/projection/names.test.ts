import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { type Named, projectNames } from './names.ts'
import { profileOf } from './profiles.ts'

const rule = profileOf('google').names
const valid = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/

function tool(server: string, name: string): Named {
  return { identity: `${server}\0${name}`, wanted: `${server}__${name}` }
}

function project(...named: readonly Named[]): ReadonlyMap<string, string> {
  return projectNames(named, rule).projected
}

function assertDistinctAndValid(names: ReadonlyMap<string, string>, count: number): void {
  assert.equal(new Set(names.values()).size, count)
  for (const name of names.values()) assert.match(name, valid)
}

test('a name that the provider takes is kept as it is', () => {
  assert.deepEqual([...project(tool('weather', 'get_weather')).values()], ['weather__get_weather'])
})

test('T8a: names that clean to the same text stay apart, whichever comes first', () => {
  const dotted = tool('one', 'get.user')
  const plain = tool('one', 'get_user')
  const names = project(dotted, plain)
  assertDistinctAndValid(names, 2)
  assert.equal(names.get(plain.identity), 'one__get_user')
  assert.match(names.get(dotted.identity)!, /^one__get_user_[0-9a-f]{12}$/)
  assert.deepEqual(project(plain, dotted), new Map([...names].toReversed()))
})

test('T8b: two tools of two servers that want the very same name both carry a digest', () => {
  const one = tool('a__b', 'c')
  const other = tool('a', 'b__c')
  assert.equal(one.wanted, other.wanted)
  assertDistinctAndValid(project(one, other), 2)
  assert.deepEqual(project(one, other).get(one.identity), project(other, one).get(one.identity))
})

test('T8c: two names of ninety characters that differ only in the middle stay apart', () => {
  const middle = (letter: string) => tool('s', `${'a'.repeat(44)}${letter}${'z'.repeat(44)}`)
  assertDistinctAndValid(project(middle('x'), middle('y')), 2)
})

test('T8d: names that differ only in case stay apart and are not changed', () => {
  assert.deepEqual([...project(tool('s', 'Get'), tool('s', 'get')).values()], ['s__Get', 's__get'])
})

test('T8: a server that joins renames no tool of the others', () => {
  const before = [tool('one', 'get.user'), tool('two', '検索'), tool('two', '削除')]
  const after = project(...before, tool('three', 'get_user'), tool('three', 'x'.repeat(90)))
  for (const [identity, name] of project(...before)) assert.equal(after.get(identity), name)
})

test('T9: names without a single ASCII letter become valid and distinct', () => {
  assertDistinctAndValid(project({ identity: '1', wanted: '検索' }, { identity: '2', wanted: '削除' }), 2)
})

test('T23: names that every object has are never handed out bare', () => {
  for (const wanted of ['constructor', '__proto__', 'toString', 'hasOwnProperty']) {
    assert.match(project({ identity: wanted, wanted }).get(wanted)!, /_[0-9a-f]{12}$/)
  }
})

test('T8: a name chosen to look like the digested form of another does not take its place', () => {
  const dotted = tool('one', 'get.user')
  const squatter = { identity: 'squatter', wanted: project(dotted).get(dotted.identity)! }
  const names = projectNames([dotted, squatter], rule)
  assertDistinctAndValid(names.projected, 2)
  assert.equal(names.identities.get(squatter.wanted), 'squatter')
})

test('T8: any set of names gives valid and distinct names, the same in every order, and back by the map', () => {
  const named = fc.uniqueArray(fc.record({ identity: fc.string({ minLength: 1 }), wanted: nasty() }), {
    selector: ({ identity }) => identity,
    maxLength: 12,
  })
  const shuffled = named.chain((all) => fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })))
  fc.assert(
    fc.property(shuffled, ([all, mixed]) => {
      const { projected, identities } = projectNames(all, rule)
      assertDistinctAndValid(projected, all.length)
      const again = projectNames(mixed, rule).projected
      for (const [identity, name] of projected) {
        assert.equal(again.get(identity), name)
        assert.equal(identities.get(name), identity)
      }
    }),
  )
})

function nasty(): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string({ unit: fc.constantFrom('a', 'A', '_', '.', '-', '1', '検', '😀', ' '), maxLength: 100 }),
    fc.constantFrom('constructor', '__proto__', '', 'a__b__c', 'a.b', 'a_b'),
  )
}
