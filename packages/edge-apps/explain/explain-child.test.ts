import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { deploymentGrids } from '../superedge/grid.ts'
import { startEdgeWorld, type EdgeWorld } from '../testing/edge-world.ts'
import { explainApplication } from './explain-application.ts'
import { explainChild } from './explain-child.ts'
import type { ChildDifference } from './child-differences.ts'
import { specDifferences } from './spec-differences.ts'

const namespace = 'default'

function template(image: string, replicas: number): object {
  return {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image }] },
    },
  }
}

test('the explanation of a child names each field of its own, and where it comes from', async () => {
  await using world = await startEdgeWorld(['superedge'])
  await world.eventually(resources.customResourceDefinitions, (all) =>
    all.some(({ metadata }) => metadata.name === 'nodegroups.site.superedge.io') ? true : undefined,
  )
  await world.node('n1', { hall: 'a' })
  await world.eventually(deploymentGrids, () => true)
  await world.create(deploymentGrids, {
    apiVersion: 'superedge.io/v1',
    kind: 'DeploymentGrid',
    metadata: { name: 'web', namespace },
    spec: {
      gridUniqKey: 'hall',
      groupPolicy: { childEdits: 'Keep' },
      template: template('nginx:1', 2),
      templatePool: { canary: template('nginx:2', 2) },
      templates: { a: 'canary' },
    },
  })
  const key = { name: 'web-a', namespace }
  await world.eventually(resources.deployments, (all) => (all.length === 1 ? true : undefined))
  await world.patch(resources.deployments, key, { spec: { replicas: 5 } })
  await world.eventually(deploymentGrids, ([grid]) =>
    grid?.status?.groups?.some(({ phase }) => phase === 'Edited') ? true : undefined,
  )
  const told = await explainChild(world.cluster, { kind: 'deployment', ...key }, world.signal)
  assert.deepEqual(told?.application, { kind: 'DeploymentGrid', name: 'web' })
  assert.equal(told.state?.phase, 'Edited')
  const shown = told.differences.map(({ path, from, to, why }) => [path, from, to, why])
  const hash = 'template.metadata.labels.superedge.io/template-hash-key'
  assert.deepEqual(
    shown.filter(([path]) => path !== hash),
    [
      [
        'template.spec.containers[c].image',
        'nginx:1',
        'nginx:2',
        'the template "canary" of spec.templatePool',
      ],
      ['template.spec.nodeSelector', undefined, { hall: 'a' }, 'the group a'],
      ['replicas', 2, 5, 'a change of the child itself'],
    ],
  )
  await assertExplained(world, told.differences)
  const other = { kind: 'deployment', name: 'nosuch', namespace }
  assert.equal(await explainChild(world.cluster, other, world.signal), undefined)
})

/** The explanation of the application has those of its children. */
async function assertExplained(
  world: EdgeWorld,
  differences: readonly ChildDifference[],
): Promise<void> {
  const ref = { kind: 'DeploymentGrid', namespace, name: 'web' }
  const all = await explainApplication(world.cluster, ref, world.signal)
  assert.deepEqual(all?.unread, [])
  const [child, ...others] = all.children
  assert.deepEqual(others, [])
  assert.ok(child)
  const { podLabels, ...facts } = child
  assert.equal(podLabels?.['app'], 'web')
  assert.deepEqual(facts, {
    group: 'a',
    kind: 'Deployment',
    name: 'web-a',
    replicas: 5,
    readyReplicas: 0,
    differences,
  })
  assert.deepEqual(
    differences.filter(({ path }) => !path.includes('labels')).map(({ by }) => by),
    ['Application', 'Group', 'Edit'],
  )
  const deployment = { ...ref, kind: 'Deployment' }
  assert.equal(await explainApplication(world.cluster, deployment, world.signal), undefined)
}

test('items of a list are compared by their names, and other lists as a whole', () => {
  const before = { args: ['a'], env: [{ name: 'A', value: '1' }] }
  const after = { args: ['b'], env: [{ name: 'A', value: '2' }, { name: 'B' }] }
  assert.deepEqual(specDifferences(before, after), [
    { path: 'args', from: ['a'], to: ['b'] },
    { path: 'env[A].value', from: '1', to: '2' },
    { path: 'env[B]', to: { name: 'B' } },
  ])
})
