import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { cloneJson, isJsonObject, type JsonObject } from '../json.ts'
import type { AnyObject } from '../object.ts'
import type { Strategy, StrategyContext } from '../kind.ts'
import type { StatusCause } from '../status-error.ts'
import { strategies } from './strategy-table.ts'

interface GoldenFile {
  bases: Record<string, AnyObject>
  cases: GoldenCase[]
}

interface GoldenCase {
  name: string
  base: string
  /** A merge patch of the base that makes the object sent. */
  patch: JsonObject
  /** Present for an update: the patch of the base that made the object before. */
  old?: JsonObject
  subresource?: string
  /** What upstream answered; empty: it accepted. */
  causes: StatusCause[]
}

const context: StrategyContext = {
  nowMs: Date.UTC(2026, 0, 1),
  randomName: () => 'random',
  user: 'admin',
}

// Recorded from Kubernetes 1.36.3: the causes in its answers. Texts end at the first line break,
// where upstream goes on with a diff; objects that may not change are left out, since upstream
// prints all of their internal fields.
const folder = new URL('testdata/', import.meta.url)
for (const file of readdirSync(folder)) {
  if (!file.endsWith('-validation.json')) continue
  const golden: GoldenFile = JSON.parse(readFileSync(new URL(file, folder), 'utf8'))
  for (const item of golden.cases) {
    test(`${item.base}: ${item.name}`, () => {
      const base = golden.bases[item.base]
      assert.ok(base, `base ${item.base}`)
      assert.deepEqual(answer(base, item).map(comparable), item.causes)
    })
  }
}

/** As the registry does it. */
function answer(base: AnyObject, item: GoldenCase): StatusCause[] {
  const strategy = strategyOf(base)
  const next = patched(base, item.patch)
  if (!item.old) {
    strategy.defaults?.(next)
    strategy.prepareForCreate?.(next, context)
    strategy.defaults?.(next)
    return strategy.validate?.(next) ?? []
  }
  const old = patched(base, item.old)
  const sent = cloneJson(old)
  strategy.defaults?.(old)
  const statusBefore = cloneJson(old['status'])
  strategy.prepareForCreate?.(old, context)
  strategy.defaults?.(old)
  keepServersWork(next, old, sent)
  strategy.defaults?.(next)
  if (statusBefore && item.subresource === 'status') old['status'] = statusBefore
  if (item.subresource === 'status') {
    strategy.prepareForStatusUpdate?.(next, old, context)
    strategy.defaults?.(next)
    return strategy.validateStatusUpdate?.(next, old) ?? []
  }
  const part = item.subresource === undefined ? undefined : strategy.parts?.[item.subresource]
  if (part) {
    part.prepare?.(next, old, context)
    return part.validate(next, old)
  }
  strategy.prepareForUpdate?.(next, old, context)
  strategy.defaults?.(next)
  return strategy.validateUpdate?.(next, old) ?? []
}

/** Clients send back what the server has added to what they once sent. */
function keepServersWork(next: JsonObject, stored: JsonObject, sent: JsonObject): void {
  for (const [key, value] of Object.entries(stored)) {
    const mine = next[key]
    if (!(key in sent)) next[key] ??= cloneJson(value)
    else if (isJsonObject(value) && isJsonObject(mine) && isJsonObject(sent[key])) {
      keepServersWork(mine, value, sent[key])
    }
  }
}

function patched(base: AnyObject, patch: JsonObject): AnyObject {
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

function comparable(cause: StatusCause): StatusCause {
  const message = cause.message?.split('\n')[0] ?? ''
  return {
    ...cause,
    message: message.replace(/\{.*\}: field is immutable/, '{…}: field is immutable'),
  }
}

function strategyOf(object: AnyObject): Strategy {
  const group = object.apiVersion.includes('/') ? object.apiVersion.split('/')[0] : ''
  const strategy = strategies[`${group}/${object.kind}`]
  assert.ok(strategy, `a strategy for ${group}/${object.kind}`)
  return strategy
}
