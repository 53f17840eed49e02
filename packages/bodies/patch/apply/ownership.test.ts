import assert from 'node:assert/strict'
import { test } from 'node:test'
import schemas from '../../../kinds/generated/schema.json' with { type: 'json' }
import {
  StatusError,
  cloneJson,
  equalJson,
  type AnyObject,
  type ManagedFieldsEntry,
  type SchemaSet,
  type StatusCause,
} from '@skerry/api'
import { applyServerSide } from './apply-server-side.ts'
import recorded from './testdata/ownership.json' with { type: 'json' }
import { keepTimesOfNoop, trackUpdate } from './track-update.ts'

/** One request to Kubernetes 1.36 and its answer; steps of one object follow each other. */
interface Step {
  label: string
  op: 'update' | 'apply'
  schemaName: string
  apiVersion: string
  kind?: string
  manager: string
  sub: string
  force?: boolean
  isCreate: boolean
  /** managedFields in the request of an update. */
  sent?: ManagedFieldsEntry[]
  applied?: AnyObject
  want?: AnyObject
  error?: { code: number; message: string; causes: StatusCause[] }
}

// Both files are generated and have these shapes; the compiler only widens their literals.
const steps = recorded as unknown as Step[]
const builtIn = schemas as unknown as SchemaSet

function optionsOf(step: Step, live: AnyObject | undefined) {
  return {
    ...(live ? { live } : {}),
    schemas: builtIn,
    schemaName: step.schemaName,
    manager: step.manager,
    apiVersion: step.apiVersion,
    subresource: step.sub,
    nowMs: Date.parse('2027-01-01T00:00:00Z'),
    resetFields: step.sub === 'status' ? [['spec'], ['metadata', 'labels']] : [['status']],
  }
}

/** Removes times; entries of one operation may differ in order if only their times determine it. */
function entriesOf(object: AnyObject): ManagedFieldsEntry[] {
  return (object.metadata.managedFields ?? [])
    .map(({ time: _time, ...entry }) => entry)
    .toSorted((a, b) =>
      JSON.stringify([a.operation, a.manager, a.subresource]) <
      JSON.stringify([b.operation, b.manager, b.subresource])
        ? -1
        : 1,
    )
}

function replay(step: Step, live: AnyObject | undefined): AnyObject {
  const options = optionsOf(step, live)
  if (step.op === 'apply' && step.applied) {
    return applyServerSide({ ...options, applied: step.applied, isForced: step.force === true })
  }
  assert.ok(step.want)
  const next = cloneJson(step.want)
  delete next.metadata.managedFields
  if (step.sent) next.metadata.managedFields = step.sent
  trackUpdate({ ...options, next })
  return next
}

test('ownership follows upstream, step by step', () => {
  let live: AnyObject | undefined
  for (const step of steps) {
    if (step.isCreate) live = undefined
    if (step.error) {
      const { code, message, causes } = step.error
      assert.throws(
        () => replay(step, live),
        (error) => {
          assert.ok(error instanceof StatusError, step.label)
          assert.equal(error.code, code, step.label)
          assert.equal(error.message, message, step.label)
          assert.deepEqual(error.details?.causes ?? [], causes, step.label)
          return true
        },
      )
      continue
    }
    assert.ok(step.want)
    assert.deepEqual(entriesOf(replay(step, live)), entriesOf(step.want), step.label)
    live = step.want
  }
})

test('an entry keeps its time until its set changes', () => {
  let live: AnyObject | undefined
  for (const step of steps) {
    if (step.isCreate) live = undefined
    if (step.error || !step.want) continue
    const before = live?.metadata.managedFields ?? []
    for (const entry of replay(step, live).metadata.managedFields ?? []) {
      if (entry.manager === step.manager) continue
      const same = before.find(
        (old) =>
          old.manager === entry.manager &&
          old.operation === entry.operation &&
          old.subresource === entry.subresource,
      )
      if (same && equalJson(same.fieldsV1, entry.fieldsV1))
        assert.equal(entry.time, same.time, step.label)
    }
    live = step.want
  }
})

test('a write that only moves times is not a write', () => {
  const live = steps.find((step) => step.want?.metadata.managedFields)?.want
  assert.ok(live)
  const next = cloneJson(live)
  for (const entry of next.metadata.managedFields ?? []) entry.time = '2030-01-01T00:00:00Z'
  const changed = cloneJson({ ...next, data: { other: 'x' } })
  keepTimesOfNoop(next, live)
  assert.deepEqual(next, live)
  keepTimesOfNoop(changed, live)
  assert.notDeepEqual(changed.metadata.managedFields, live.metadata.managedFields)
})
