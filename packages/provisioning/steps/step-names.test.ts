import assert from 'node:assert/strict'
import { test } from 'node:test'
import { stepNames } from '../kind/step-names-table.ts'
import { departure } from './departure-table.ts'
import { importRemoval, importSteps } from './import-steps-table.ts'
import { removal, steps } from './steps-table.ts'

test('spec.skipSteps may name every step of an edge cluster, and nothing else', () => {
  const tables = [...steps, ...departure, ...removal, ...importSteps, ...importRemoval]
  const names = new Set(tables.map(({ name }) => name))
  assert.deepEqual(stepNames.toSorted(), [...names].toSorted())
})
