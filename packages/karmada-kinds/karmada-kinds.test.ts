import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { systemClock } from '@skerry/base'
import {
  callApi,
  openAccess,
  startTestApiServer,
  watchApi,
  type TestApiServer,
} from '@skerry/testing'
import { fleetAdmission } from './admission/fleet-admission.ts'
import { karmadaKinds } from './karmada-kinds.ts'

let server: TestApiServer

before(async () => {
  const kinds = await builtinKinds()
  server = await startTestApiServer({
    kinds: [...kinds, ...(await karmadaKinds(kinds, { allowsNoExecute: true }))],
    access: (objects) => ({ ...openAccess(systemClock), admission: fleetAdmission(objects) }),
  })
})
after(() => server[Symbol.asyncDispose]())

interface Resource {
  name: string
  shortNames?: string[]
  categories?: string[]
  namespaced: boolean
}

test('clients find the existing kinds by Karmada’s names, and no others', async () => {
  const found: string[] = []
  for (const version of ['policy.karmada.io/v1alpha1', 'work.karmada.io/v1alpha2']) {
    const { body } = await callApi(server.transport, { path: `/apis/${version}` })
    for (const {
      name,
      shortNames = [],
      categories = [],
      namespaced,
    } of body.resources as Resource[]) {
      found.push(
        [name, ...shortNames, ...categories, namespaced ? 'namespaced' : ''].join(' ').trim(),
      )
    }
  }
  assert.deepEqual(found, [
    'clusteroverridepolicies cop karmada-io',
    'clusterpropagationpolicies cpp karmada-io',
    'clustertaintpolicies',
    'overridepolicies op karmada-io namespaced',
    'propagationpolicies pp karmada-io namespaced',
    'clusterresourcebindings crb karmada-io',
    'clusterresourcebindings/status',
    'resourcebindings rb karmada-io namespaced',
    'resourcebindings/status namespaced',
  ])
  const { body } = await callApi(server.transport, { path: '/apis/work.karmada.io' })
  assert.equal(body.preferredVersion.version, 'v1alpha2')
})

const bindings = '/apis/work.karmada.io/v1alpha2/namespaces/default/resourcebindings'
const scheduled = { type: 'Scheduled', status: 'True', reason: 'Success', message: '' }

function binding(name: string) {
  return {
    apiVersion: 'work.karmada.io/v1alpha2',
    kind: 'ResourceBinding',
    metadata: { name },
    spec: { resource: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' } },
  }
}

test('a binding’s status is written separately, and shown in a list', async () => {
  const status = { conditions: [{ ...scheduled, lastTransitionTime: '2026-01-01T00:00:00Z' }] }
  const created = await callApi(server.transport, {
    method: 'POST',
    path: bindings,
    body: { ...binding('web-deployment'), status },
  })
  assert.equal(created.body.status, undefined)
  await callApi(server.transport, {
    method: 'PATCH',
    path: `${bindings}/web-deployment/status`,
    body: { status, spec: { replicas: 3 } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  const { body } = await callApi(server.transport, {
    path: bindings,
    headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' },
  })
  const names = body.columnDefinitions.map(({ name }: { name: string }) => name)
  assert.deepEqual(names, ['Name', 'SCHEDULED', 'FULLYAPPLIED', 'AGE'])
  assert.deepEqual(body.rows[0].cells.slice(0, 3), ['web-deployment', 'True', null])
  const { body: now } = await callApi(server.transport, { path: `${bindings}/web-deployment` })
  assert.equal(now.spec.replicas, undefined)
})

test('a protected object is not deleted', async () => {
  const path = '/api/v1/namespaces/default/configmaps'
  const labels = { 'resourcetemplate.karmada.io/deletion-protected': 'Always' }
  await callApi(server.transport, {
    method: 'POST',
    path,
    body: { metadata: { name: 'kept', labels } },
  })
  const refused = await callApi(server.transport, { method: 'DELETE', path: `${path}/kept` })
  assert.deepEqual(
    [refused.status, refused.body.message],
    [
      403,
      'configmaps "kept" is forbidden: This resource is protected, please make sure to remove the label: resourcetemplate.karmada.io/deletion-protected',
    ],
  )
  await callApi(server.transport, {
    method: 'PATCH',
    path: `${path}/kept`,
    body: { metadata: { labels: null } },
    headers: { 'content-type': 'application/merge-patch+json' },
  })
  const deleted = await callApi(server.transport, { method: 'DELETE', path: `${path}/kept` })
  assert.equal(deleted.status, 200)
})

test('taints that evict are allowed where the fleet evicts', async () => {
  const { status, text } = await callApi(server.transport, {
    method: 'POST',
    path: '/apis/policy.karmada.io/v1alpha1/clustertaintpolicies',
    body: {
      apiVersion: 'policy.karmada.io/v1alpha1',
      kind: 'ClusterTaintPolicy',
      metadata: { name: 'evicting' },
      spec: { taints: [{ key: 'a', effect: 'NoExecute' }] },
    },
  })
  assert.equal(status, 201, text)
})

test('a script that is not Lua is refused, with the place of its mistake', async () => {
  const { status, body } = await callApi(server.transport, {
    method: 'POST',
    path: '/apis/config.karmada.io/v1alpha1/resourceinterpretercustomizations',
    body: {
      apiVersion: 'config.karmada.io/v1alpha1',
      kind: 'ResourceInterpreterCustomization',
      metadata: { name: 'rocks' },
      spec: {
        target: { apiVersion: 'example.com/v1', kind: 'Rock' },
        customizations: {
          retention: { luaScript: 'function Retain(desired, observed)\n  return' },
        },
      },
    },
  })
  assert.equal(status, 403)
  assert.match(body.message, /InterpreterOperation\(Retain\) Lua script error: .*2/)
})

test('applying and deleting Karmada’s own definitions changes nothing', async () => {
  const { transport } = server
  const policies = '/apis/policy.karmada.io/v1alpha1/namespaces/default/propagationpolicies'
  const resourceSelectors = [{ apiVersion: 'v1', kind: 'Secret' }]
  const policy = (name: string) => ({
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name },
    spec: { resourceSelectors },
  })
  await callApi(transport, { method: 'POST', path: policies, body: policy('kept') })
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const name = 'propagationpolicies.policy.karmada.io'
  const openAPIV3Schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const version = { name: 'v1alpha1', served: true, storage: true, schema: { openAPIV3Schema } }
  const names = { plural: 'propagationpolicies', kind: 'PropagationPolicy' }
  const spec = { group: 'policy.karmada.io', scope: 'Namespaced', names, versions: [version] }
  const kind = 'CustomResourceDefinition'
  const body = { apiVersion: 'apiextensions.k8s.io/v1', kind, metadata: { name }, spec }
  const applied = await callApi(transport, { method: 'POST', path: definitions, body })
  const { resourceVersion } = applied.body.metadata
  const stop = AbortSignal.timeout(30_000)
  const watched = `${definitions}?watch=1&fieldSelector=metadata.name%3D${name}&resourceVersion=${resourceVersion}`
  for await (const { type, object } of watchApi(transport, watched, stop)) {
    const conditions: { type: string; status: string }[] = object.status?.conditions ?? []
    const isThere = conditions.some((each) => each.type === 'Established' && each.status === 'True')
    if (type !== 'DELETED' && isThere) break
  }
  const made = await callApi(transport, { method: 'POST', path: policies, body: policy('made') })
  assert.equal(made.body.spec.schedulerName, 'default-scheduler')
  await callApi(transport, { method: 'DELETE', path: `${definitions}/${name}` })
  for await (const { type } of watchApi(transport, watched, stop)) if (type === 'DELETED') break
  const { body: list } = await callApi(transport, { path: policies })
  const left = list.items.map(({ metadata }: { metadata: { name: string } }) => metadata.name)
  assert.deepEqual(left, ['kept', 'made'])
})
