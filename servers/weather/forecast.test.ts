import assert from 'node:assert/strict'
import { test } from 'node:test'

import * as fc from 'fast-check'

import { inventWeather, skies } from './forecast.ts'

test('the same location has the same weather, and it is always marked as a demonstration', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (location) => {
      const weather = inventWeather(location)
      assert.deepEqual(weather, inventWeather(location))
      assert.equal(weather.location, location)
      assert.equal(weather.demonstration, true)
      assert.ok(weather.temperature_c >= -15 && weather.temperature_c <= 35)
      assert.equal(weather.temperature_c, Number(weather.temperature_c.toFixed(1)))
      assert.ok(skies.includes(weather.sky))
      assert.ok(weather.sky !== 'snow' || weather.temperature_c <= 3)
    }),
  )
})

test('letter case, spaces around it and Unicode composition do not change the weather', () => {
  const weathers = ['Málaga', 'málaga ', 'MA\u0301LAGA'].map((location) => ({
    ...inventWeather(location),
    location: '',
  }))
  assert.deepEqual(weathers, [weathers[0], weathers[0], weathers[0]])
})

test('the values are the same on every machine and in every version', () => {
  assert.deepEqual(inventWeather('Lisbon'), {
    location: 'Lisbon',
    temperature_c: 11.2,
    sky: 'rain',
    demonstration: true,
  })
})
