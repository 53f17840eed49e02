import assert from 'node:assert/strict'
import {
  cloneJson,
  isJsonObject,
  type JsonObject,
  type Strategy,
  type StrategyContext,
  type AnyObject,
} from '@skerry/api'
import { strategies } from '../../strategy-table.ts'

export const goldenContext: StrategyContext = {
  nowMs: Date.UTC(2026, 0, 1),
  newUid: () => 'random',
  user: 'admin',
}

/** Returns the base with a merge patch applied. */
export function patched(base: AnyObject, patch: JsonObject): AnyObject {
  const copy = cloneJson(base)
  merge(copy, patch)
  copy.metadata.uid = 'uid'
  return copy
}

function merge(target: JsonObject, patch: JsonObject): void {
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete target[key]
    else if (!isJsonObject(value)) target[key] = cloneJson(value)
    else {
      const below = isJsonObject(target[key]) ? target[key] : {}
      target[key] = below
      merge(below, value)
    }
  }
}

export function strategyOfObject(object: AnyObject): Strategy {
  const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : ''
  const strategy =
    strategies[`${object.apiVersion}/${object.kind}`] ?? strategies[`${group}/${object.kind}`]
  assert.ok(strategy, `a strategy for ${group}/${object.kind}`)
  return strategy
}
