import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { systemClock } from '@skerry/base'
import { CustomScripts } from '../../../packages/interpreter/custom/customization.ts'
import {
  CustomizationError,
  LuaInterpreter,
} from '../../../packages/interpreter/custom/lua-interpreter.ts'
import { customizationCases, ruleOfOperation, type CustomizationCase } from './cases.ts'

/** The answers of Karmada 1.18.1's `karmadactl interpret`: dev/hack/karmada-customizations.ts writes them. */
const answers: Readonly<Record<string, { results?: unknown[]; error?: string }>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/answers.json'), 'utf8'),
)

/** Matches the functions of Lua that Karmada refuses. Ours runs them and counts the memory that they take. */
const onlyOurs = /The Lua function string\.(gsub|rep) is not supported by Karmada/

function interpreterFor({ operation, script, object }: CustomizationCase): LuaInterpreter {
  const { apiVersion, kind } = object
  const customizations = { [ruleOfOperation[operation]]: { luaScript: script } }
  const scripts = new CustomScripts([
    {
      apiVersion: 'config.karmada.io/v1alpha1',
      kind: 'ResourceInterpreterCustomization',
      metadata: { name: 'replayed' },
      spec: { target: { apiVersion, kind }, customizations },
    },
  ])
  return new LuaInterpreter(() => scripts, systemClock)
}

/** Lists the results of an operation like karmadactl. */
async function resultsOf(asked: CustomizationCase): Promise<unknown[]> {
  const { operation, object, observed = object, replicas = 0, items = [] } = asked
  const interpreter = interpreterFor(asked)
  switch (operation) {
    case 'InterpretReplica': {
      const found = await interpreter.replicas(object)
      return [found.replicas, found.requirements ?? null]
    }
    case 'InterpretComponent':
      return [(await interpreter.components(object)) ?? null]
    case 'ReviseReplica':
      return [await interpreter.reviseReplica(object, replicas)]
    case 'Retain':
      return [await interpreter.retain(object, observed)]
    case 'InterpretStatus':
      return [await interpreter.reflectStatus(object)]
    case 'AggregateStatus': {
      const { status } = await interpreter.aggregateStatus(object, items)
      return [status]
    }
    case 'InterpretHealth':
      return [(await interpreter.health(object)) === 'Healthy']
    case 'InterpretDependency':
      return [await interpreter.dependencies(object)]
  }
}

/** Takes only the status of an aggregation. */
function comparable({ operation }: CustomizationCase, results: readonly unknown[]): unknown {
  return operation === 'AggregateStatus' ? results.map((each) => Object(each).status) : results
}

test('scripts answer as they answer Karmada', async () => {
  const known = customizationCases.filter(({ name }) => answers[name]?.results !== undefined)
  assert.ok(known.length > 90)
  for (const asked of known) {
    const theirs = comparable(asked, answers[asked.name]?.results ?? [])
    assert.deepEqual(await resultsOf(asked), theirs, asked.name)
  }
})

test('a script that Karmada refuses is refused', async () => {
  const refused = customizationCases.filter(({ name }) => answers[name]?.error !== undefined)
  const shared = refused.filter(({ name }) => !onlyOurs.test(answers[name]?.error ?? ''))
  assert.ok(shared.length > 25)
  for (const asked of shared) {
    await assert.rejects(resultsOf(asked), CustomizationError, asked.name)
  }
})

test('every case has its answer', () => {
  assert.deepEqual(
    customizationCases.map(({ name }) => name).toSorted(),
    Object.keys(answers).toSorted(),
  )
})
