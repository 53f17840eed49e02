import assert from 'node:assert/strict'
import { test } from 'node:test'
import { callApi, startTestApiServer, until } from '@skerry/testing'

function definition(specReplicasPath: string) {
  const names = { plural: 'things', kind: 'Thing' }
  const schema = {
    openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  }
  const scale = { specReplicasPath, statusReplicasPath: '.status.replicas' }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'things.scale.example.com' },
    spec: {
      group: 'scale.example.com',
      scope: 'Namespaced',
      names,
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { scale } }],
    },
  }
}

for (const path of ['.spec.__proto__.count', '.spec.constructor.prototype.count']) {
  test(`a definition's path of replicas reaches own members only: ${path}`, async () => {
    await using server = await startTestApiServer()
    const send = (method: 'POST' | 'PUT', target: string, body: object) =>
      callApi(server.transport, { method, path: target, body })
    await send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition(path))
    const things = '/apis/scale.example.com/v1/namespaces/default/things'
    const thing = { apiVersion: 'scale.example.com/v1', kind: 'Thing', metadata: { name: 'a' } }
    await until(async () =>
      send('POST', things, { ...thing, spec: { a: 1 } }).then(
        ({ status }) => status === 201,
        () => false,
      ),
    )
    const metadata = { name: 'a' }
    const spec = { replicas: 7 }
    const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata, spec }
    await send('PUT', `${things}/a/scale`, scale).catch(() => undefined)
    const any: Record<string, unknown> = {}
    const found = any['count']
    Reflect.deleteProperty(Object.prototype, 'count')
    assert.equal(found, undefined)
  })
}
