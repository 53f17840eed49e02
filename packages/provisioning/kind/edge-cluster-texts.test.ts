import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { edgeClusterKind } from './edge-cluster-kind.ts'
import { edgeJobKinds } from './edge-job-kind.ts'

test('every field of an EdgeCluster has a text for kubectl explain, and every text has a field', async () => {
  const { schemas, descriptions = {}, schemaName } = edgeClusterKind(await builtinKinds())
  const own = Object.entries(schemas).filter(([name]) => name.startsWith(schemaName))
  assert.ok(own.length > 15)
  // Upstream's texts explain these three for every kind.
  const common = ['apiVersion', 'kind', 'metadata']
  for (const [name, { properties = {} }] of own) {
    const fields = Object.keys(properties).filter((field) => !common.includes(field))
    assert.deepEqual(
      Object.keys(descriptions[name]?.fields ?? {}).toSorted(),
      fields.toSorted(),
      name,
    )
  }
})

test('every text of an EdgeJob has a field, and every field of its spec has a text', async () => {
  const [job] = edgeJobKinds(await builtinKinds())
  assert.ok(job)
  const { schemas, descriptions = {}, schemaName } = job
  for (const [name, { fields = {} }] of Object.entries(descriptions)) {
    if (!name.startsWith(schemaName) || name === `${schemaName}Cluster`) continue
    const properties = Object.keys(schemas[name]?.properties ?? {})
    const common = ['apiVersion', 'kind', 'metadata']
    const expected = properties.filter((field) => !common.includes(field))
    assert.deepEqual(Object.keys(fields).toSorted(), expected.toSorted(), name)
  }
})
