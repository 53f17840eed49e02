import assert from 'node:assert/strict'
import { test } from 'node:test'
import { observedAnnotations, observedKeys, type SeenTimes } from './observed-times.ts'

const startMs = Date.parse('2026-03-01T10:00:00Z')
const minuteMs = 60_000
const status = { kubernetesVersion: 'v1.36.3' }

function seenAt(ms: number): SeenTimes {
  return { version: ms, labels: ms, place: ms }
}

test('a fact that an agent reports about itself has its time, renewed when it changes and every five minutes', () => {
  const first = observedAnnotations(
    { status: {}, annotations: { kept: 'so' }, hasNewDescription: true },
    status,
    seenAt(startMs),
  )
  const { version, labels, place } = observedKeys
  const start = '2026-03-01T10:00:00Z'
  assert.deepEqual(first, { kept: 'so', [version]: start, [labels]: start, [place]: start })
  const known = { status, annotations: first }
  const next = (hasNewDescription: boolean, minutes: number): Record<string, string> =>
    observedAnnotations(
      { ...known, hasNewDescription },
      status,
      seenAt(startMs + minutes * minuteMs),
    )
  assert.deepEqual(next(false, 1), first)
  const later = '2026-03-01T10:01:00Z'
  assert.deepEqual(next(true, 1), { ...first, [labels]: later, [place]: later })
  const confirmed = '2026-03-01T10:05:00Z'
  assert.deepEqual(next(false, 5), {
    kept: 'so',
    [version]: confirmed,
    [labels]: confirmed,
    [place]: confirmed,
  })
})
