import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { isJsonObject } from '@skerry/api'
import { thirdpartyInterpreter } from '../../../packages/interpreter/thirdparty/thirdparty-interpreter.ts'
import { thirdpartyCases, type ThirdpartyCase } from './thirdparty-cases.ts'

/** The answers of Karmada 1.18.1's built-in rules: dev/hack/karmada-customizations.ts writes them. */
const answers: Readonly<Record<string, { results?: unknown[]; error?: string }>> = JSON.parse(
  readFileSync(join(import.meta.dirname, 'testdata/thirdparty-answers.json'), 'utf8'),
)

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

async function resultsOf(asked: ThirdpartyCase): Promise<unknown[]> {
  const { operation, object, observed = object, replicas = 0, items = [] } = asked
  switch (operation) {
    case 'InterpretReplica': {
      const found = await thirdpartyInterpreter.replicas(object, soon())
      return [found?.replicas, found?.requirements ?? null]
    }
    case 'ReviseReplica':
      return [await thirdpartyInterpreter.reviseReplica(object, replicas, soon())]
    case 'Retain':
      return [await thirdpartyInterpreter.retain(object, observed, soon())]
    case 'InterpretStatus':
      return [await thirdpartyInterpreter.reflectStatus(object, soon())]
    case 'AggregateStatus': {
      const { status } = await thirdpartyInterpreter.aggregateStatus(object, items, soon())
      return [status]
    }
    case 'InterpretHealth':
      return [(await thirdpartyInterpreter.health(object, soon())) === 'Healthy']
    case 'InterpretDependency':
      return [await thirdpartyInterpreter.dependencies(object, soon())]
  }
}

/** The case that Karmada loses: its own rule for HelmCharts drops the observed generation. */
const lostByKarmada = 'source.toolkit.fluxcd.io/v1beta2 HelmChart: InterpretStatus '

function comparable({ name, operation }: ThirdpartyCase, results: readonly unknown[]): unknown {
  if (operation === 'AggregateStatus') return results.map((each) => Object(each).status ?? each)
  if (name !== lostByKarmada) return results
  return results.map((each) => (isJsonObject(each) ? { ...each, observedGeneration: 3 } : each))
}

test('kinds of other projects are interpreted by the rules that Karmada brings along', async () => {
  assert.ok(thirdpartyCases.length > 150)
  for (const asked of thirdpartyCases) {
    const { results, error } = answers[asked.name] ?? {}
    assert.equal(error, undefined, asked.name)
    const theirs = comparable(asked, results ?? [])
    assert.deepEqual(comparable(asked, await resultsOf(asked)), theirs, asked.name)
    assert.ok(thirdpartyInterpreter.knows(asked.object, asked.operation), asked.name)
  }
})

test('a kind without rules has no interpretation', () => {
  const valve = { apiVersion: 'example.com/v1', kind: 'Valve', metadata: { name: 'a' } }
  assert.equal(thirdpartyInterpreter.knows(valve, 'InterpretHealth'), false)
})
