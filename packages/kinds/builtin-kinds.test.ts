import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from './builtin-kinds.ts'
import type { Kind, Schema, SchemaSet } from '@skerry/api'
import { selectableFieldValue } from './selectable-field-table.ts'

async function kindNamed(key: string): Promise<Kind> {
  const kind = (await builtinKinds({ includeBeta: true })).find(
    ({ group, version, kind: name }) => `${group}/${version} ${name}` === key,
  )
  assert.ok(kind, key)
  return kind
}

test('beta versions are left out unless asked for, and both lists are made once', async () => {
  const stable = await builtinKinds()
  const all = await builtinKinds({ includeBeta: true })
  assert.ok(stable.every(({ version }) => !version.includes('beta')))
  assert.ok(all.some(({ version }) => version.includes('beta')))
  assert.equal(await builtinKinds(), stable)
})

test('a kind carries its properties from the API', async () => {
  const pod = await kindNamed('/v1 Pod')
  assert.equal(pod.resource, 'pods')
  assert.equal(pod.listKind, 'PodList')
  assert.equal(pod.isNamespaced, true)
  assert.deepEqual(pod.shortNames, ['po'])
  assert.deepEqual(pod.categories, ['all'])
  const { schemas } = pod
  const ports = schemas['io.k8s.api.core.v1.Container']?.properties?.['ports']
  assert.deepEqual(ports?.listMapKeys, ['containerPort', 'protocol'])
  assert.equal(ports?.patchMergeKey, 'containerPort')
  const protocol = schemas['io.k8s.api.core.v1.ContainerPort']?.properties?.['protocol']
  assert.equal(protocol?.default, 'TCP')
  const eviction = pod.subresources.find(({ name }) => name === 'eviction')
  assert.deepEqual(eviction?.kind, { group: 'policy', version: 'v1', kind: 'Eviction' })
  assert.equal(eviction?.schemaName, 'io.k8s.api.policy.v1.Eviction')
})

test('objects that several kinds show are stored in one version and group', async () => {
  assert.equal((await kindNamed('autoscaling/v1 HorizontalPodAutoscaler')).storageVersion, 'v2')
  assert.equal((await kindNamed('events.k8s.io/v1 Event')).storageGroup, '')
  for (const kind of await builtinKinds()) {
    assert.ok(!kind.storageVersion.includes('beta'), `${kind.group} ${kind.kind}`)
  }
})

test('every reference in the schemas leads to a definition', async () => {
  for (const { kind, schemaName, schemas } of await builtinKinds({ includeBeta: true })) {
    assert.ok(schemas[schemaName], kind)
  }
  const [first] = await builtinKinds({ includeBeta: true })
  assert.ok(first)
  for (const schema of Object.values(first.schemas)) checkReferences(schema, first.schemas)
})

function checkReferences(schema: Schema, schemas: SchemaSet): void {
  if (schema.ref !== undefined) assert.ok(schemas[schema.ref], schema.ref)
  for (const property of Object.values(schema.properties ?? {})) checkReferences(property, schemas)
  if (schema.items) checkReferences(schema.items, schemas)
  if (schema.additionalProperties) checkReferences(schema.additionalProperties, schemas)
}

test('a field selector compares the value that upstream gives the field', async () => {
  const bare = { apiVersion: 'v1', kind: '', metadata: {} }
  const table: [kind: string, field: string, content: object, value: string][] = [
    ['/v1 Pod', 'spec.nodeName', { spec: { nodeName: 'a' } }, 'a'],
    ['/v1 Pod', 'spec.host', { spec: { nodeName: 'a' } }, 'a'],
    ['/v1 Pod', 'spec.nodeName', {}, ''],
    ['/v1 Pod', 'spec.hostNetwork', { spec: {} }, 'false'],
    ['/v1 Pod', 'spec.hostNetwork', { spec: { hostNetwork: true } }, 'true'],
    ['/v1 Pod', 'status.podIP', { status: { podIPs: [{ ip: '1' }, { ip: '2' }] } }, '1'],
    ['/v1 Node', 'spec.unschedulable', {}, 'false'],
    ['/v1 ReplicationController', 'status.replicas', {}, '0'],
    ['batch/v1 Job', 'status.successful', { status: { succeeded: 2 } }, '2'],
    ['batch/v1 Job', 'status.successful', {}, '0'],
    ['/v1 Event', 'source', { source: { component: 'a' }, reportingComponent: 'b' }, 'a'],
    ['/v1 Event', 'source', { reportingComponent: 'b' }, 'b'],
    ['events.k8s.io/v1 Event', 'regarding.name', { regarding: { name: 'a' } }, 'a'],
  ]
  for (const [key, field, content, value] of table) {
    const kind = await kindNamed(key)
    assert.ok(kind.selectableFields.includes(field), `${key} ${field}`)
    assert.equal(selectableFieldValue(kind, field, { ...bare, ...content }), value, field)
  }
})
