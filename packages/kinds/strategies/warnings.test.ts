import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { JsonObject, AnyObject } from '@skerry/api'
import { goldenContext, patched, strategyOfObject } from './testing/golden-objects.ts'

interface GoldenFile {
  bases: Record<string, AnyObject>
  cases: {
    name: string
    base: string
    /** A merge patch of the base that yields the sent object. */
    patch: JsonObject
    /** Set for an update: the patch of the base that yields the object before. */
    old?: JsonObject
    /** The warnings in upstream's answer, which sends each text once. */
    warnings: string[]
  }[]
}

// Recorded from Kubernetes 1.36.3: the warnings in the headers of its answers.
const url = new URL('testdata/warnings.json', import.meta.url)
const golden: GoldenFile = JSON.parse(readFileSync(url, 'utf8'))
for (const { base: name, cases } of byBase()) {
  for (const item of cases) {
    test(`${name}: ${item.name}`, () => {
      const base = golden.bases[name]
      assert.ok(base, `base ${name}`)
      const old = item.old && stored(patched(base, item.old))
      const next = stored(patched(base, item.patch))
      const warnings = strategyOfObject(base).warnings?.(next, old) ?? []
      assert.deepEqual([...new Set(warnings)], item.warnings.filter(isOfObject))
    })
  }
}

/** Excludes warnings about the whole version, which do not come from a strategy. */
function isOfObject(text: string): boolean {
  return !/^v1 \w+ is deprecated in /.test(text)
}

function byBase() {
  return Object.keys(golden.bases).map((base) => ({
    base,
    cases: golden.cases.filter((item) => item.base === base),
  }))
}

function stored(object: AnyObject): AnyObject {
  const strategy = strategyOfObject(object)
  strategy.defaults?.(object)
  strategy.prepareForCreate?.(object, goldenContext)
  strategy.defaults?.(object)
  return object
}
