import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isSkippable } from '../engine/plan-steps.ts'
import { skippableHubSteps, stepNames } from '../kind/step-names-table.ts'
import { departure } from './departure-table.ts'
import { importRemoval, importSteps } from './import-steps-table.ts'
import { removal, steps } from './steps-table.ts'

const tables = [...steps, ...departure, ...removal, ...importSteps, ...importRemoval]

test('spec.skipSteps may name every step of an edge cluster, and nothing else', () => {
  const names = new Set(tables.map(({ name }) => name))
  assert.deepEqual(stepNames.toSorted(), [...names].toSorted())
})

test('the steps of the hub that people may skip are listed, and no others', () => {
  const found = tables.filter((step) => step.place === 'hub' && isSkippable(step))
  assert.deepEqual(
    skippableHubSteps,
    found.map(({ name }) => name),
  )
})
