import assert from 'node:assert/strict'
import { test } from 'node:test'
import { degreesText, mapFrame, markRadius } from './map-frame.ts'

const size = { width: 960, height: 480, padding: 60 }

test('all places are inside of the frame, north up and east right', () => {
  const places = [
    { latitude: 59.9, longitude: 10.7 },
    { latitude: -33.9, longitude: 18.4 },
    { latitude: 1.3, longitude: 103.8 },
  ]
  const frame = mapFrame(places, size)
  for (const { latitude, longitude } of places) {
    const [x, y] = [frame.x(longitude), frame.y(latitude)]
    assert.ok(x >= 60 && x <= 900 && y >= 60 && y <= 420, `${x} ${y}`)
  }
  assert.ok(frame.y(59.9) < frame.y(-33.9))
  assert.ok(frame.x(103.8) > frame.x(10.7))
  assert.ok(frame.meridians.length <= 9 && frame.parallels.length <= 9)
  assert.ok(frame.parallels.includes(0))
})

test('one place stands in the middle', () => {
  const frame = mapFrame([{ latitude: 60, longitude: 10 }], size)
  assert.deepEqual([frame.x(10), frame.y(60)], [480, 240])
  assert.ok(frame.parallels.length >= 1)
  const empty = mapFrame([], size)
  assert.deepEqual([empty.x(0), empty.y(0)], [480, 240])
})

test('degrees name their side, and marks grow with the clusters up to a bound', () => {
  assert.deepEqual(
    [60, -10.5, 0].map((degrees) => degreesText(degrees, ['N', 'S'])),
    ['60°N', '10.5°S', '0°'],
  )
  assert.deepEqual([markRadius(1), markRadius(5), markRadius(10_000)], [8, 12, 26])
})
