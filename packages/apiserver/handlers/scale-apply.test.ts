import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callApi, startTestApiServer, type ApiCall } from '@skerry/testing'

const path = '/apis/apps/v1/namespaces/default/deployments'
const owners = (object: {
  metadata: {
    managedFields: {
      manager: string
      operation: string
      subresource?: string
      apiVersion: string
      fieldsV1: { 'f:spec'?: Record<string, unknown> }
    }[]
  }
}): string[] =>
  object.metadata.managedFields
    .filter(({ fieldsV1 }) => fieldsV1['f:spec']?.['f:replicas'] !== undefined)
    .map((entry) =>
      [entry.manager, entry.operation, entry.subresource ?? '', entry.apiVersion].join(' '),
    )

test('replicas are applied through scale, and their owner is kept on the object', async () => {
  await using server = await startTestApiServer()
  const call = (request: ApiCall) => callApi(server.transport, request)
  const apply = (query: string, scale: object) =>
    call({
      method: 'PATCH',
      path: `${path}/web/scale?${query}`,
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: { apiVersion: 'autoscaling/v1', kind: 'Scale', ...scale },
    })
  const replicas = (wanted: number) => ({ spec: { replicas: wanted } })
  await call({
    method: 'POST',
    path: `${path}?fieldManager=maker`,
    body: {
      metadata: { name: 'web' },
      spec: {
        replicas: 1,
        selector: { matchLabels: { app: 'web' } },
        template: {
          metadata: { labels: { app: 'web' } },
          spec: { containers: [{ name: 'c', image: 'i' }] },
        },
      },
    },
  })
  const steps: readonly [string, object, unknown, readonly string[]][] = [
    [
      'fieldManager=a',
      replicas(3),
      'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas',
      ['maker Update  apps/v1'],
    ],
    ['fieldManager=a&force=true', replicas(3), { replicas: 3 }, ['a Apply scale apps/v1']],
    [
      'fieldManager=b',
      replicas(4),
      'Apply failed with 1 conflict: conflict with "a" with subresource "scale": .spec.replicas',
      ['a Apply scale apps/v1'],
    ],
    [
      'fieldManager=b',
      replicas(3),
      { replicas: 3 },
      ['a Apply scale apps/v1', 'b Apply scale apps/v1'],
    ],
    ['fieldManager=a', {}, { replicas: 3 }, ['b Apply scale apps/v1']],
    [
      'fieldManager=b',
      { metadata: { name: 'other' }, ...replicas(3) },
      'the name of the object (other) does not match the name on the URL (web)',
      ['b Apply scale apps/v1'],
    ],
    [
      '',
      replicas(3),
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
      ['b Apply scale apps/v1'],
    ],
  ]
  for (const [query, scale, expected, owning] of steps) {
    const { body } = await apply(query, scale)
    assert.deepEqual(body.kind === 'Scale' ? body.spec : body.message, expected, query)
    const { body: deployment } = await call({ path: `${path}/web` })
    assert.deepEqual(owners(deployment).sort(), owning, query)
  }
  const wrong = await apply('fieldManager=b', { kind: 'Deployment', apiVersion: 'apps/v1' })
  assert.deepEqual(
    [wrong.status, wrong.body.message],
    [400, 'invalid object type: apps/v1, Kind=Deployment'],
  )
})
