import assert from 'node:assert/strict'
import { test } from 'node:test'
import { builtinKinds } from '@skerry/kinds'
import { silentLogger, systemClock } from '@skerry/base'
import { createCluster } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { karmadaKinds } from '../karmada-kinds.ts'
import { workResource, type Work } from './work.ts'

const soon = (): AbortSignal => AbortSignal.timeout(120_000)
const namespace = 'karmada-es-shop'

async function startHub() {
  const kinds = await builtinKinds()
  const server = await startTestApiServer({
    kinds: [...kinds, ...(await karmadaKinds(kinds))],
    namespaces: ['default', namespace],
  })
  const deps = { log: silentLogger, clock: systemClock, userAgent: 'test' }
  const works = createCluster(server.transport, deps).resource(workResource)
  return { works, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() }
}

function work(manifests: readonly unknown[], at = namespace): Work {
  const object: unknown = {
    apiVersion: 'work.karmada.io/v1alpha1',
    kind: 'Work',
    metadata: { namespace: at, name: 'settings' },
    spec: { workload: { manifests } },
  }
  return object as Work // what a client sends; the server checks it
}

const configMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'default', name: 'settings', uid: 'u', labels: { app: 'a' } },
  data: { colour: 'green' },
}

test('a Work carries manifests marked as its own, and is kept until they are gone', async () => {
  await using hub = await startHub()
  const made = await hub.works.create(work([configMap]), soon())
  const id = made.metadata.labels?.['work.karmada.io/permanent-id'] ?? ''
  assert.match(id, /^[\da-f-]{36}$/)
  assert.deepEqual(made.metadata.finalizers, ['karmada.io/execution-controller'])
  const [manifest] = made.spec.workload?.manifests ?? []
  assert.deepEqual(manifest?.metadata, {
    namespace: 'default',
    name: 'settings',
    labels: { app: 'a', 'karmada.io/managed': 'true', 'work.karmada.io/permanent-id': id },
    annotations: {
      'work.karmada.io/namespace': namespace,
      'work.karmada.io/name': 'settings',
      'resourcetemplate.karmada.io/managed-annotations':
        'resourcetemplate.karmada.io/managed-annotations,resourcetemplate.karmada.io/managed-labels,work.karmada.io/name,work.karmada.io/namespace',
      'resourcetemplate.karmada.io/managed-labels':
        'app,karmada.io/managed,work.karmada.io/permanent-id',
    },
  })
  assert.deepEqual(manifest?.['data'], { colour: 'green' })
  const again = await hub.works.update(made, soon())
  assert.equal(again.metadata.generation, 1, 'the same manifest stays the same')
})

test('status and spec are written apart, and a status is validated', async () => {
  await using hub = await startHub()
  const made = await hub.works.create(work([configMap]), soon())
  const condition = {
    type: 'Applied',
    status: 'True',
    reason: 'AppliedSuccessful',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const
  const identifier = {
    ordinal: 0,
    version: 'v1',
    kind: 'ConfigMap',
    resource: '',
    name: 'settings',
  }
  const told = await hub.works.updateStatus(
    {
      ...made,
      spec: {},
      status: { conditions: [condition], manifestStatuses: [{ identifier, status: { any: [1] } }] },
    },
    soon(),
  )
  assert.equal(told.spec.workload?.manifests?.length, 1)
  assert.deepEqual(told.status?.manifestStatuses, [{ identifier, status: { any: [1] } }])
  const odd = { ...condition, reason: 'not a word' }
  await assert.rejects(hub.works.updateStatus({ ...told, status: { conditions: [odd] } }, soon()), {
    message: /status\.conditions\[0\]\.reason: Invalid value: "not a word"/,
  })
})

test('a manifest that does not identify its object is refused', async () => {
  await using hub = await startHub()
  await assert.rejects(hub.works.create(work([{ kind: 'ConfigMap', metadata: {} }]), soon()), {
    message:
      /spec\.workload\.manifests\[0\]\.apiVersion: Required value.*manifests\[0\]\.metadata\.name: Required value/,
  })
})

test('a Work that no agent will see is not kept for one', async () => {
  await using hub = await startHub()
  const made = await hub.works.create(work([configMap], 'default'), soon())
  assert.equal(made.metadata.finalizers, undefined)
})
