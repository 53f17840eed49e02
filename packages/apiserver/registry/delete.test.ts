import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AnyObject, Kind, ObjectMeta, Strategy } from '@skerry/api'
import { planDeletion } from './delete.ts'
import type { DeleteOptions } from './delete-options.ts'

const nowMs = Date.UTC(2030, 0, 1)
const now = '2030-01-01T00:00:00Z'

function plan(metadata: ObjectMeta, options: Partial<DeleteOptions>, strategy: Strategy = {}) {
  const old: AnyObject = { apiVersion: 'v1', kind: 'Thing', metadata }
  const kind = { group: '', kind: 'Thing', strategy } satisfies Partial<Kind>
  const asked = { isDryRun: false, object: old, ...options }
  const next = planDeletion(old, asked, { kind, nowMs })
  if (typeof next === 'string') return next
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = next.metadata
  return [deletionTimestamp, deletionGracePeriodSeconds, ...finalizers]
}

const graceful: Strategy = { gracefulDeletion: (_object, asked) => asked ?? 30 }
const leaving = { deletionTimestamp: '2030-01-01T00:00:30Z', deletionGracePeriodSeconds: 30 }

test("finalizers, the grace period and the client's options decide the effect of a delete", () => {
  const table: readonly [string, unknown, unknown][] = [
    ['nothing holds it', plan({}, {}), 'remove'],
    ['a finalizer holds it', plan({ finalizers: ['x/y'] }, {}), [now, 0, 'x/y']],
    [
      'its dependents go first',
      plan({}, { propagationPolicy: 'Foreground' }),
      [now, 0, 'foregroundDeletion'],
    ],
    ['its dependents stay', plan({}, { propagationPolicy: 'Orphan' }), [now, 0, 'orphan']],
    [
      'nobody says, the kind orphans',
      plan({}, {}, { defaultGarbageCollection: 'orphan' }),
      [now, 0, 'orphan'],
    ],
    [
      'background takes the others’ finalizers off',
      plan({ finalizers: ['orphan'] }, { propagationPolicy: 'Background' }),
      'remove',
    ],
    ['it gets its grace', plan({}, {}, graceful), ['2030-01-01T00:00:30Z', 30]],
    [
      'the client grants less',
      plan({}, { gracePeriodSeconds: 5 }, graceful),
      ['2030-01-01T00:00:05Z', 5],
    ],
    ['the client grants none', plan({}, { gracePeriodSeconds: 0 }, graceful), 'remove'],
    ['it is leaving already', plan(leaving, {}, graceful), 'wait'],
    ['grace only shrinks', plan(leaving, { gracePeriodSeconds: 60 }, graceful), 'wait'],
    [
      'grace shrinks',
      plan(leaving, { gracePeriodSeconds: 2 }, graceful),
      ['2030-01-01T00:00:02Z', 2],
    ],
    ['grace is cut off', plan(leaving, { gracePeriodSeconds: 0 }, graceful), 'remove'],
    [
      'grace is cut off, a finalizer holds it',
      plan({ ...leaving, finalizers: ['x/y'] }, { gracePeriodSeconds: 0 }, graceful),
      [now, 0, 'x/y'],
    ],
    [
      'a finalizer holds it still',
      plan({ deletionTimestamp: now, deletionGracePeriodSeconds: 0, finalizers: ['x/y'] }, {}),
      'wait',
    ],
  ]
  for (const [name, got, wanted] of table) assert.deepEqual(got, wanted, name)
})
