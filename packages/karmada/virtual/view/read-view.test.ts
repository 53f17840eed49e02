import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  addNamespace,
  addNode,
  startViewScene,
  until,
  type ViewScene,
} from './testing/view-scene.ts'

const namesIn = (items: readonly { metadata: { name: string } }[]): string[] =>
  items.map(({ metadata }) => metadata.name)

async function addConfigMap(scene: ViewScene, namespace: string, name: string): Promise<void> {
  await scene.edge.objects.create(
    { group: '', resource: 'configmaps' },
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace, name }, data: { namespace } },
  )
}

async function startPeopled(): Promise<ViewScene> {
  const scene = await startViewScene()
  for (const cluster of ['east', 'west']) {
    const member = await addNamespace(scene, cluster, 'shop')
    await addConfigMap(scene, member, `till-${cluster}`)
    await addNode(scene, `node-${cluster}`, cluster)
  }
  await addNode(scene, 'node-own')
  await addConfigMap(scene, 'kube-system', 'secret-of-the-edge')
  await until(async () => {
    const { body } = await scene.ask('west', '/api/v1/nodes/node-west')
    return body['kind'] === 'Node'
  })
  return scene
}

test('a virtual cluster has its own namespaces, objects and nodes, by its own names', async () => {
  await using scene = await startPeopled()
  const { body: namespaces } = await scene.ask('east', '/api/v1/namespaces')
  assert.deepEqual(namesIn(namespaces['items'] as never), ['shop'])
  const { body: one } = await scene.ask('east', '/api/v1/namespaces/shop/configmaps/till-east')
  assert.equal(one['metadata']?.['namespace'], 'shop')
  assert.equal(one['data']?.['namespace'], 'shop-east', 'what users keep is theirs')
  const { body: all } = await scene.ask('east', '/api/v1/configmaps')
  assert.deepEqual(namesIn(all['items'] as never), ['till-east'])
  const { body: nodes } = await scene.ask('east', '/api/v1/nodes')
  assert.deepEqual(namesIn(nodes['items'] as never), ['node-east'])
})
