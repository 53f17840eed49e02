import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodSpec, PodStatus } from '@skerry/api'
import type { ObservedContainer, ObservedPod } from '../pod/observed-pod.ts'
import { podStatus, type PodStatusInput } from './pod-status.ts'
import { statusPatch } from './status-patch.ts'

const nowMs = Date.parse('2026-01-01T00:10:00Z')
const startedAtMs = Date.parse('2026-01-01T00:05:00.7Z')

function podOf(spec: Partial<PodSpec> = {}, status: PodStatus = {}): Pod {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1', generation: 3 },
    spec: { restartPolicy: 'Always', containers: [{ name: 'main', image: 'app:1' }], ...spec },
    status,
  }
}

function container(name: string, fields: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: `${name}-id`,
    name,
    restartCount: 0,
    sandboxId: 's0',
    state: 'running',
    createdAtMs: startedAtMs,
    startedAtMs,
    finishedAtMs: 0,
    exitCode: 0,
    reason: '',
    message: '',
    specHash: '',
    image: 'docker.io/library/app:1',
    imageId: 'sha256:1',
    ...fields,
  }
}

function ended(name: string, exitCode: number, fields: Partial<ObservedContainer> = {}) {
  const reason = exitCode === 0 ? 'Completed' : 'Error'
  return container(name, { state: 'exited', exitCode, reason, finishedAtMs: nowMs, ...fields })
}

const sandbox = {
  id: 's0',
  attempt: 0,
  isReady: true,
  createdAtMs: 0,
  ips: ['10.0.0.9'],
  isHostNetwork: false,
}

function statusOf(
  input: Partial<PodStatusInput> & { containers?: ObservedContainer[] },
): PodStatus {
  const { containers = [], ...rest } = input
  const observed: ObservedPod = { sandboxes: [sandbox], containers }
  const pod = rest.pod ?? podOf()
  return podStatus({
    pod,
    observed,
    previous: pod.status ?? {},
    waiting: new Map(),
    probes: new Map(),
    isTerminal: false,
    hostIps: ['192.168.1.5'],
    nowMs,
    ...rest,
  })
}

/** Summarizes the fields from which `kubectl get pod` makes its line. */
function inShort(status: PodStatus): string {
  const containers = [
    ...(status.initContainerStatuses ?? []),
    ...(status.containerStatuses ?? []),
  ].map(({ name, ready, restartCount, state }) => {
    const text = state?.running
      ? 'running'
      : (state?.waiting?.reason ?? state?.terminated?.reason ?? 'waiting')
    return `${name}=${text}${ready ? '+' : ''}${restartCount > 0 ? restartCount : ''}`
  })
  const conditions = (status.conditions ?? [])
    .filter(({ status: value }) => value === 'True')
    .map(({ type }) => type)
  return `${status.phase} ${containers.join(' ')} | ${conditions.join(' ')}`
}

const all = 'PodReadyToStartContainers Initialized Ready ContainersReady PodScheduled'
const notReady = 'PodReadyToStartContainers Initialized PodScheduled'
const init = { name: 'init', image: 'app:1' }
const side = { name: 'side', image: 'app:1', restartPolicy: 'Always' }
const crashing = new Map([['main', { reason: 'CrashLoopBackOff', message: 'back-off 10s' }]])

const cases: [string, Parameters<typeof statusOf>[0], string][] = [
  [
    'before anything was made',
    { observed: { sandboxes: [], containers: [] } },
    'Pending main=ContainerCreating | Initialized PodScheduled',
  ],
  [
    'with init containers it initializes first',
    { pod: podOf({ initContainers: [init] }), observed: { sandboxes: [], containers: [] } },
    'Pending init=PodInitializing main=PodInitializing | PodScheduled',
  ],
  ['running', { containers: [container('main')] }, `Running main=running+ | ${all}`],
  [
    'an init container has succeeded',
    {
      pod: podOf({ initContainers: [init] }),
      containers: [container('main'), ended('init', 0)],
    },
    `Running init=Completed+ main=running+ | ${all}`,
  ],
  [
    'not ready before its probe has passed',
    {
      pod: podOf({ containers: [{ name: 'main', image: 'app:1', readinessProbe: {} }] }),
      containers: [container('main')],
    },
    `Running main=running | ${notReady}`,
  ],
  [
    'not ready before its startup probe has passed',
    {
      pod: podOf({ containers: [{ name: 'main', image: 'app:1', startupProbe: {} }] }),
      containers: [container('main')],
      probes: new Map([['main-id', { startup: 'unknown', readiness: 'success' } as const]]),
    },
    `Running main=running | ${notReady}`,
  ],
  [
    'a readiness gate nobody has set',
    { pod: podOf({ readinessGates: [{ conditionType: 'lb' }] }), containers: [container('main')] },
    'Running main=running+ | PodReadyToStartContainers Initialized ContainersReady PodScheduled',
  ],
  [
    'between two starts it counts as running',
    { containers: [ended('main', 1, { restartCount: 2 })], waiting: crashing },
    `Running main=CrashLoopBackOff2 | ${notReady}`,
  ],
  [
    'a failed pull keeps it pending',
    { waiting: new Map([['main', { reason: 'ErrImagePull', message: 'no' }]]) },
    `Pending main=ErrImagePull | ${notReady}`,
  ],
  [
    'Never: succeeded',
    { pod: podOf({ restartPolicy: 'Never' }), containers: [ended('main', 0)] },
    `Succeeded main=Completed | ${notReady}`,
  ],
  [
    'Never: failed',
    { pod: podOf({ restartPolicy: 'Never' }), containers: [ended('main', 3)] },
    `Failed main=Error | ${notReady}`,
  ],
  [
    'Never: an init container failed',
    {
      pod: podOf({ restartPolicy: 'Never', initContainers: [init] }),
      containers: [ended('init', 3)],
    },
    'Failed init=Error main=PodInitializing | PodReadyToStartContainers PodScheduled',
  ],
  [
    'a sidecar that started lets the pod count as initialized',
    {
      pod: podOf({ initContainers: [side] }),
      containers: [container('main'), container('side')],
    },
    `Running side=running+ main=running+ | ${all}`,
  ],
  [
    'ended by deletion: succeeded only if all ended well',
    { containers: [ended('main', 143)], isTerminal: true },
    `Failed main=Error | ${notReady}`,
  ],
  [
    'a phase that has ended stays, whatever is seen',
    { pod: podOf({}, { phase: 'Succeeded' }), containers: [container('main')] },
    `Succeeded main=running+ | ${notReady}`,
  ],
  [
    'an ended pod whose containers were cleaned away keeps their states',
    {
      pod: podOf(
        { restartPolicy: 'Never' },
        {
          phase: 'Failed',
          containerStatuses: [
            {
              name: 'main',
              image: 'app:1',
              imageID: '',
              ready: false,
              restartCount: 0,
              state: { terminated: { exitCode: 3, reason: 'OOMKilled' } },
            },
          ],
        },
      ),
      isTerminal: true,
    },
    `Failed main=OOMKilled | ${notReady}`,
  ],
]

for (const [name, input, expected] of cases) {
  test(name, () => assert.equal(inShort(statusOf(input)), expected))
}

test('an evicted pod fails with the reason of the eviction', () => {
  const failure = { reason: 'Evicted', message: 'The node was low on resource: memory. ' }
  const status = statusOf({ containers: [ended('main', 137)], failure, isTerminal: true })
  const { phase, reason, message } = status
  assert.deepEqual({ phase, reason, message }, { phase: 'Failed', ...failure })
})

test('the previous state is shown as last state', () => {
  const earlier = ended('main', 7, { id: 'old', createdAtMs: 0 })
  const status = statusOf({ containers: [container('main', { restartCount: 1 }), earlier] })
  const [main] = status.containerStatuses ?? []
  assert.equal(main?.lastState?.terminated?.exitCode, 7)
  assert.equal(main?.state?.running?.startedAt, '2026-01-01T00:05:00Z')
  assert.equal(main?.restartCount, 1)
})

test('a transition time moves only when the condition turns', () => {
  const first = statusOf({ containers: [container('main')] })
  const laterMs = nowMs + 60_000
  const same = statusOf({ containers: [container('main')], previous: first, nowMs: laterMs })
  assert.deepEqual(same, first)
  const unready = statusOf({ containers: [ended('main', 1)], previous: first, nowMs: laterMs })
  const readyAt = unready.conditions?.find(({ type }) => type === 'Ready')?.lastTransitionTime
  assert.equal(readyAt, '2026-01-01T00:11:00Z')
})

test('conditions of others stay, and only own ones are sent', () => {
  const theirs = { type: 'lb', status: 'True', lastTransitionTime: '2026-01-01T00:00:00Z' }
  const pod = podOf({}, { conditions: [theirs] })
  const status = statusOf({ pod, containers: [container('main')] })
  assert.ok(status.conditions?.some(({ type }) => type === 'lb'))
  const patch = JSON.stringify(statusPatch('u1', pod.status ?? {}, status))
  assert.ok(!patch.includes('"lb"'))
})

test('nothing is sent if nothing changed', () => {
  const status = statusOf({ containers: [container('main')] })
  assert.equal(statusPatch('u1', status, status), undefined)
})

test('a new address replaces the old one, and an outdated reason is removed', () => {
  const known: PodStatus = { phase: 'Running', reason: 'x', podIPs: [{ ip: '10.0.0.1' }] }
  const next: PodStatus = { phase: 'Running', podIPs: [{ ip: '10.0.0.2' }] }
  assert.deepEqual(statusPatch('u1', known, next), {
    metadata: { uid: 'u1' },
    status: { reason: null, podIPs: [{ $patch: 'replace' }, { ip: '10.0.0.2' }] },
  })
})

test('a resize that is under way shows in a condition, which is taken away when it is done', () => {
  const during = statusOf({ containers: [container('main')], isResizing: true })
  const isShown = (status: PodStatus): boolean =>
    (status.conditions ?? []).some(({ type }) => type === 'PodResizeInProgress')
  assert.ok(isShown(during))
  const after = statusOf({ containers: [container('main')], previous: during })
  assert.ok(!isShown(after))
  assert.deepEqual(statusPatch('u1', during, after), {
    metadata: { uid: 'u1' },
    status: { conditions: [{ $patch: 'delete', type: 'PodResizeInProgress' }] },
  })
})
