import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet, DaemonSetSpec, Node, Pod, Taint } from '@skerry/api'
import { daemonPod } from './daemon-pods.ts'
import { daemonSetStatus, planDaemonSet, type DaemonSetView } from './daemon-set-plan.ts'
import { FailedPodBackoff } from './failed-pod-backoff.ts'
import { fitOf } from './node-fit.ts'

const nowMs = Date.parse('2026-01-01T12:00:00Z')

function daemonSet(spec: Partial<DaemonSetSpec> = {}): DaemonSet {
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'a', uid: 'd' },
    spec: {
      selector: { matchLabels: { app: 'agent' } },
      template: { metadata: { labels: { app: 'agent' } }, spec: { containers: [] } },
      updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 1 } },
      ...spec,
    },
  }
}

function node(name: string, taints: Taint[] = [], labels: Record<string, string> = {}): Node {
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec: { taints } }
}

type State = 'ready' | 'unready' | 'failed'

function pod(name: string, on: string, hash = 'new', state: State = 'ready'): Pod {
  const made = daemonPod(daemonSet(), on, hash)
  return {
    ...made,
    metadata: { ...made.metadata, name, creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { containers: [], ...made.spec, nodeName: on },
    status: {
      phase: state === 'failed' ? 'Failed' : 'Running',
      conditions: [{ type: 'Ready', status: state === 'ready' ? 'True' : 'False' }],
    },
  }
}

const nodes = [node('n1'), node('n2'), node('n3')]
const surging = daemonSet({
  updateStrategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
})

function plan(given: Partial<DaemonSetView>): string[] {
  const view = {
    set: daemonSet(),
    nodes,
    pods: [],
    hash: 'new',
    isInBackoff: () => false,
    nowMs,
    ...given,
  }
  const { create, remove } = planDaemonSet(view)
  return [...create.map((name) => `+${name}`), ...remove.map(({ metadata }) => `-${metadata.name}`)]
}

const cases: [string, Partial<DaemonSetView>, string[]][] = [
  ['puts a pod on each node', {}, ['+n1', '+n2', '+n3']],
  [
    'removes a second pod of a node',
    { pods: [pod('a', 'n1'), pod('b', 'n1'), pod('c', 'n2'), pod('d', 'n3')] },
    ['-b'],
  ],
  [
    'replaces a failed pod',
    { nodes: [node('n1')], pods: [pod('a', 'n1', 'new', 'failed')] },
    ['-a'],
  ],
  [
    'waits before it replaces a pod that keeps failing',
    { nodes: [node('n1')], pods: [pod('a', 'n1', 'new', 'failed')], isInBackoff: () => true },
    [],
  ],
  [
    'rolls one node at a time',
    { pods: [pod('a', 'n1', 'old'), pod('b', 'n2', 'old'), pod('c', 'n3')] },
    ['-a'],
  ],
  [
    'waits until the new pod is available',
    { pods: [pod('a', 'n1', 'old'), pod('b', 'n2', 'old'), pod('c', 'n3', 'new', 'unready')] },
    [],
  ],
  [
    'replaces broken old pods at once',
    { pods: [pod('a', 'n1', 'old', 'unready'), pod('b', 'n2', 'old'), pod('c', 'n3')] },
    ['-a'],
  ],
  [
    'with surge starts the new pod beside the old one',
    { set: surging, pods: [pod('a', 'n1', 'old'), pod('b', 'n2', 'old'), pod('c', 'n3')] },
    ['+n1'],
  ],
  [
    'with surge removes the old pod when the new one is available',
    { set: surging, nodes: [node('n1')], pods: [pod('a', 'n1', 'old'), pod('b', 'n1')] },
    ['-a'],
  ],
  [
    'leaves updates to its user',
    {
      set: daemonSet({ updateStrategy: { type: 'OnDelete' } }),
      nodes: [node('n1')],
      pods: [pod('a', 'n1', 'old')],
    },
    [],
  ],
]
for (const [name, given, expected] of cases) {
  test(`a daemon set ${name}`, () => assert.deepEqual(plan(given), expected))
}

const taint = (key: string, effect: string): Taint => ({ key, effect })
const fits: [string, Node, boolean, boolean][] = [
  ['is plain', node('n'), true, true],
  ['is not ready', node('n', [taint('node.kubernetes.io/not-ready', 'NoExecute')]), true, true],
  ['is cordoned', node('n', [taint('node.kubernetes.io/unschedulable', 'NoSchedule')]), true, true],
  ['repels new pods', node('n', [taint('x', 'NoSchedule')]), false, true],
  ['drives pods away', node('n', [taint('x', 'NoExecute')]), false, false],
]
for (const [name, given, shouldRun, shouldStay] of fits) {
  test(`on a node that ${name} daemons ${shouldRun ? 'run' : 'do not start'}`, () => {
    assert.deepEqual(fitOf(daemonSet(), given), { shouldRun, shouldStay })
  })
}

test('affinity and selectors choose nodes', () => {
  const spec = {
    containers: [],
    nodeSelector: { disk: 'ssd' },
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [
            { matchExpressions: [{ key: 'zone', operator: 'NotIn', values: ['b'] }] },
          ],
        },
      },
    },
  }
  const set = daemonSet({ template: { spec } })
  assert.ok(fitOf(set, node('n', [], { disk: 'ssd', zone: 'a' })).shouldRun)
  assert.ok(!fitOf(set, node('n', [], { disk: 'ssd', zone: 'b' })).shouldRun)
  assert.ok(!fitOf(set, node('n', [], { zone: 'a' })).shouldRun)
})

test('the status counts nodes, not pods', () => {
  const view = {
    set: daemonSet(),
    nodes: [...nodes, node('n4', [taint('x', 'NoSchedule')])],
    pods: [pod('a', 'n1'), pod('b', 'n2', 'old', 'unready'), pod('c', 'n4')],
    hash: 'new',
    isInBackoff: () => false,
    nowMs,
  }
  assert.deepEqual(daemonSetStatus(view, undefined), {
    desiredNumberScheduled: 3,
    currentNumberScheduled: 2,
    numberMisscheduled: 1,
    numberReady: 1,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 2,
    observedGeneration: 0,
  })
})

test('each failure in a row doubles the wait of a node', () => {
  const backoff = new FailedPodBackoff()
  backoff.onFailure('n1', 0)
  assert.equal(backoff.remainingMs('n1', 400), 600)
  backoff.onFailure('n1', 1_000)
  assert.equal(backoff.remainingMs('n1', 1_000), 2_000)
  assert.equal(backoff.remainingMs('n2', 1_000), 0)
})
