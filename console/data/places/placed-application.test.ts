import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  childRows,
  differenceRows,
  explanationPath,
  ownDifferences,
  placedPage,
  placedTotals,
  servicesOf,
  valueText,
  type ExplainedChild,
  type PlacedApplication,
} from './placed-application.ts'

const web: PlacedApplication = {
  metadata: { name: 'web', namespace: 'shop' },
  status: {
    groups: [
      { name: 'b', child: 'web-b', kind: 'Deployment', phase: 'Ready', nodes: 2, readyNodes: 1 },
      {
        name: 'a',
        child: 'web-a',
        kind: 'Deployment',
        phase: 'Edited',
        reason: 'EditKept',
        message: 'kept',
      },
      { name: '', child: 'web-1', kind: 'ControllerRevision', phase: 'Ready' },
      { name: 'c', child: 'web-c', kind: 'Deployment', phase: 'Sleeping' },
    ],
  },
}

const explained = (group: string, by: 'Group' | 'Edit'): ExplainedChild => ({
  group,
  kind: 'Deployment',
  name: `web-${group}`,
  podLabels: { app: 'web', hall: group },
  replicas: 2,
  readyReplicas: 1,
  differences: [{ path: 'replicas', from: 1, to: 2, by, why: 'x' }],
})
const explanation = { children: [explained('a', 'Group'), explained('d', 'Edit')], unread: [] }

test('an application is as well as its worst place, and says why', () => {
  assert.deepEqual(placedTotals(web), { ready: 2, total: 4, worst: 'Edited', problem: 'a: kept' })
  assert.deepEqual(placedTotals({ metadata: { name: 'web' } }), {
    ready: 0,
    total: 0,
    problem: '',
  })
})

test('a child has its state and its explanation; a phase of a newer version is not well', () => {
  assert.deepEqual(
    childRows(web, explanation).map(({ name, phase, why, explained: known }) => [
      name,
      phase,
      why,
      known?.readyReplicas,
    ]),
    [
      ['web-a', 'Edited', 'kept', 1],
      ['web-b', 'Ready', '', undefined],
      ['web-c', 'Waiting', '', undefined],
      ['web-d', undefined, '', 1],
    ],
  )
  assert.equal(childRows(web, undefined).length, 3)
})

test('changes by hand come first among the differences', () => {
  assert.deepEqual(
    differenceRows(explanation).map(({ child, by }) => [child.name, by]),
    [
      ['web-d', 'Edit'],
      ['web-a', 'Group'],
    ],
  )
  assert.deepEqual(explanation.children.map(ownDifferences), [0, 1])
  assert.equal(ownDifferences(undefined), -1)
  assert.equal(valueText(undefined), '–')
  assert.equal(valueText({ hall: 'a' }), '{"hall":"a"}')
  assert.equal(valueText('nginx:1'), 'nginx:1')
})

test('the services of an application select pods of one of its children, or are its children', () => {
  const service = (name: string, selector?: Record<string, string>) => ({
    metadata: { name },
    ...(selector === undefined ? {} : { spec: { selector } }),
  })
  const services = [
    service('web', { app: 'web' }),
    service('of-a', { app: 'web', hall: 'a' }),
    service('other', { app: 'other' }),
    service('none', {}),
    service('headless'),
  ]
  assert.deepEqual(servicesOf(explanation, services), ['of-a', 'web'])
  const child = { group: '', kind: 'Service', name: 'web-svc', differences: [] }
  assert.deepEqual(servicesOf({ children: [child], unread: [] }, services), ['web-svc'])
})

test('names of others cannot become parts of an address', () => {
  const odd = { namespace: 'a/b', name: 'c?d' }
  assert.equal(
    placedPage('edge', { resource: 'deploymentgrids' }, odd),
    '/clusters/edge/places/deploymentgrids/a%2Fb/c%3Fd',
  )
  assert.equal(
    explanationPath('edge', { kind: 'DeploymentGrid', ...odd }),
    '/hub/v1/clusters/edge/application-in-places?kind=DeploymentGrid&namespace=a%2Fb&name=c%3Fd',
  )
  assert.equal(
    explanationPath('edge', odd),
    '/hub/v1/clusters/edge/service-in-places?namespace=a%2Fb&name=c%3Fd',
  )
})
