import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import {
  cloneJson,
  isJsonObject,
  type JsonObject,
  type AnyObject,
  type StatusCause,
} from '@skerry/api'
import { goldenContext, patched, strategyOfObject } from './testing/golden-objects.ts'
import { loadExpressions } from '../expressions/expressions.ts'

await loadExpressions()

interface GoldenFile {
  bases: Record<string, AnyObject>
  cases: GoldenCase[]
}

interface GoldenCase {
  name: string
  base: string
  /** A merge patch of the base that yields the sent object. */
  patch: JsonObject
  /** Set for an update: the patch of the base that yields the object before. */
  old?: JsonObject
  subresource?: string
  /** Upstream's causes; none if it accepted the object. */
  causes: StatusCause[]
}

// Recorded from Kubernetes 1.36.3: the causes in its answers. Texts end at the first line break,
// after which upstream prints a diff. Objects that may not change are left out, because upstream
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

/** Prepares and validates an object, as the registry does. */
function answer(base: AnyObject, item: GoldenCase): StatusCause[] {
  const strategy = strategyOfObject(base)
  const next = patched(base, item.patch)
  if (!item.old) {
    strategy.defaults?.(next)
    strategy.prepareForCreate?.(next, goldenContext)
    strategy.defaults?.(next)
    return strategy.validate?.(next) ?? []
  }
  const old = patched(base, item.old)
  const sent = cloneJson(old)
  strategy.defaults?.(old)
  const statusBefore = cloneJson(old['status'])
  strategy.prepareForCreate?.(old, goldenContext)
  strategy.defaults?.(old)
  keepServersWork(next, old, sent)
  strategy.defaults?.(next)
  if (statusBefore && item.subresource === 'status') old['status'] = statusBefore
  if (item.subresource === 'status') {
    strategy.prepareForStatusUpdate?.(next, old, goldenContext)
    strategy.defaults?.(next)
    return strategy.validateStatusUpdate?.(next, old) ?? []
  }
  const part = item.subresource === undefined ? undefined : strategy.parts?.[item.subresource]
  if (part) {
    part.prepare?.(next, old, goldenContext)
    return part.validate(next, old)
  }
  strategy.prepareForUpdate?.(next, old, goldenContext)
  strategy.defaults?.(next)
  return [...(strategy.validateForm?.(next) ?? []), ...(strategy.validateUpdate?.(next, old) ?? [])]
}

/** Clients send back the fields that the server added to their earlier object. */
function keepServersWork(next: JsonObject, stored: JsonObject, sent: JsonObject): void {
  for (const [key, value] of Object.entries(stored)) {
    const mine = next[key]
    if (!(key in sent)) next[key] ??= cloneJson(value)
    else if (isJsonObject(value) && isJsonObject(mine) && isJsonObject(sent[key])) {
      keepServersWork(mine, value, sent[key])
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
