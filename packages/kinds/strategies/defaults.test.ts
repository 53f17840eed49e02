import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { AnyObject, StrategyContext } from '@skerry/api'
import { strategies } from '../strategy-table.ts'

interface Golden {
  object: AnyObject
  result: AnyObject
}

const context: StrategyContext = {
  nowMs: Date.UTC(2026, 0, 1),
  newUid: () => 'random',
  user: 'admin',
  userUid: '1',
  userGroups: ['system:masters', 'system:authenticated'],
}

// The answers of Kubernetes 1.36.3 to creating the object, as recorded, without changes by
// admission plugins, server-side allocations and nulls.
const goldens: Golden[] = JSON.parse(
  readFileSync(new URL('testdata/defaults.json', import.meta.url), 'utf8'),
)

for (const [at, { object, result }] of goldens.entries()) {
  test(`create of ${object.kind} ${at} gets upstream's defaults`, () => {
    const next = created(object)
    assert.deepEqual(withoutNulls(next), result)
    const again = structuredClone(next)
    strategyOf(again).defaults?.(again)
    assert.deepEqual(again, next, 'defaults are idempotent')
  })
}

/** Decodes, prepares and sets defaults, as the registry does. */
function created(object: AnyObject): AnyObject {
  const next = structuredClone(object)
  next.metadata.uid = 'UID'
  const strategy = strategyOf(next)
  strategy.defaults?.(next)
  strategy.prepareForCreate?.(next, context)
  strategy.defaults?.(next)
  delete next.metadata.uid
  return JSON.parse(JSON.stringify(next).replaceAll('2026-01-01T00:00:00Z', 'TIME'))
}

function withoutNulls(object: AnyObject): AnyObject {
  return JSON.parse(JSON.stringify(object), (_key, value: unknown) => value ?? undefined)
}

function strategyOf(object: AnyObject): (typeof strategies)[string] {
  const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : ''
  const strategy =
    strategies[`${object.apiVersion}/${object.kind}`] ?? strategies[`${group}/${object.kind}`]
  assert.ok(strategy, `a strategy for ${group}/${object.kind}`)
  return strategy
}
