import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isJsonObject, type JsonObject } from '@skerry/api'
import { nativeInterpreter } from '@skerry/interpreter'
import { interpreterCases, type InterpreterCase } from './cases.ts'

interface Answer {
  readonly result?: unknown
  readonly error?: string
}

/** The answers of Karmada 1.18.1: dev/hack/fleet-vectors.ts writes them. */
const answers: Readonly<Record<string, Answer>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/answers.json'), 'utf8'),
)

async function answerTo(asked: InterpreterCase, signal: AbortSignal): Promise<unknown> {
  const { operation, object, observed = object, replicas = 0, items = [] } = asked
  switch (operation) {
    case 'InterpretReplica':
      return nativeInterpreter.replicas(object, signal)
    case 'InterpretComponent':
      return nativeInterpreter.components(object, signal)
    case 'ReviseReplica':
      return nativeInterpreter.reviseReplica(object, replicas, signal)
    case 'Retain':
      return nativeInterpreter.retain(object, observed, signal)
    case 'Prune':
      return nativeInterpreter.prune(object, signal)
    case 'InterpretStatus':
      return nativeInterpreter.reflectStatus(object, signal)
    case 'AggregateStatus':
      return nativeInterpreter.aggregateStatus(object, items, signal)
    case 'InterpretHealth':
      return nativeInterpreter.health(object, signal)
    case 'InterpretDependency':
      return nativeInterpreter.dependencies(object, signal)
  }
}

/** Returns the compared part of an answer. */
function comparable(operation: InterpreterCase['operation'], answer: unknown): unknown {
  switch (operation) {
    case 'AggregateStatus':
      return withoutEmpty(withoutNow(isJsonObject(answer) ? answer['status'] : undefined))
    case 'InterpretHealth':
      return answer === true || answer === 'Healthy'
    case 'InterpretStatus':
      return withoutEmpty(answer)
    case 'InterpretDependency':
      // Sorts, because Karmada collects names in maps.
      return Array.isArray(answer) ? answer.map((each) => JSON.stringify(each)).toSorted() : []
    case 'Retain':
      return isJsonObject(answer) ? { ...withoutNull(answer), status: undefined } : answer
    case 'InterpretReplica':
    case 'InterpretComponent':
    case 'ReviseReplica':
    case 'Prune':
      return isJsonObject(answer) ? withoutNull(answer) : answer
  }
}

/** A count of 0 is the same as none. */
function withoutEmpty(status: unknown): unknown {
  if (!isJsonObject(status)) return undefined
  return Object.fromEntries(Object.entries(withoutNull(status)).filter(([, value]) => value !== 0))
}

/** Drops members with null: Karmada's types write null for some missing members. */
function withoutNull(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== null))
}

/**
 * Replaces the times of conditions: Karmada writes the current time on a Job's conditions, ours the latest of
 * the copies.
 */
function withoutNow(status: unknown): unknown {
  if (!isJsonObject(status) || !Array.isArray(status['conditions'])) return status ?? {}
  const conditions = status['conditions'].map((condition: unknown) =>
    isJsonObject(condition)
      ? { ...condition, lastProbeTime: 'then', lastTransitionTime: 'then' }
      : condition,
  )
  return { ...status, conditions }
}

test('native kinds are interpreted as Karmada does it', async (t) => {
  const known = interpreterCases.filter(({ name }) => !answers[name]?.error?.includes('not found'))
  assert.ok(known.length > 100)
  for (const asked of known) {
    const theirs = comparable(asked.operation, answers[asked.name]?.result)
    const ours = comparable(asked.operation, await answerTo(asked, t.signal))
    assert.deepEqual(ours, theirs, asked.name)
  }
})

test('where Karmada has no rule for a native kind, we have none', () => {
  const unknown = interpreterCases.filter(({ name }) => answers[name]?.error?.includes('not found'))
  const known = unknown.filter(({ object, operation }) =>
    nativeInterpreter.knows(object, operation),
  )
  assert.deepEqual(
    known.map(({ name }) => name),
    [],
  )
})
