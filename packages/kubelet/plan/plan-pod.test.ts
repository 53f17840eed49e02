import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodSpec } from '@skerry/api'
import type { ProbeResults } from '../probes/probe-results.ts'
import type { ObservedContainer, ObservedPod, ObservedSandbox } from '../pod/observed-pod.ts'
import { planPod } from './plan-pod.ts'
import { backoffKey, type PodPlan, type Termination } from './pod-actions.ts'
import { containerSpecHash } from '../pod/pod-spec.ts'
import type { RestartBackoff } from '../pod/restart-backoff.ts'

const nowMs = 1_000_000

function podOf(spec: Partial<PodSpec> = {}): Pod {
  const containers = [{ name: 'main', image: 'app:1' }]
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
    spec: { restartPolicy: 'Always', terminationGracePeriodSeconds: 30, containers, ...spec },
  }
}

function sandbox(attempt = 0, fields: Partial<ObservedSandbox> = {}): ObservedSandbox {
  return {
    id: `s${attempt}`,
    attempt,
    isReady: true,
    createdAtMs: attempt,
    ips: ['10.0.0.1'],
    isHostNetwork: false,
    ...fields,
  }
}

function container(name: string, fields: Partial<ObservedContainer> = {}): ObservedContainer {
  return {
    id: `${name}-${fields.restartCount ?? 0}`,
    name,
    restartCount: 0,
    sandboxId: 's0',
    state: 'running',
    createdAtMs: 0,
    startedAtMs: 0,
    finishedAtMs: 0,
    exitCode: 0,
    reason: '',
    message: '',
    specHash: containerSpecHash({ name, image: 'app:1' }),
    image: 'app:1',
    imageId: 'sha256:1',
    ...fields,
  }
}

function ended(name: string, exitCode: number, fields: Partial<ObservedContainer> = {}) {
  return container(name, { state: 'exited', exitCode, finishedAtMs: nowMs - 1000, ...fields })
}

/** The plan in words, in the order of carrying out. */
function inWords(plan: PodPlan): string {
  return [
    ...plan.kill.map(
      (kill) => `kill ${kill.container.name} (${kill.reason}, ${kill.graceSeconds}s)`,
    ),
    ...plan.stopSandboxes.map(({ id }) => `stop ${id}`),
    ...(plan.createSandbox === undefined ? [] : [`sandbox ${plan.createSandbox}`]),
    ...plan.start.map(
      (start) => `start ${start.kind} ${start.container.name} #${start.restartCount}`,
    ),
    ...plan.backOff.map(({ name, untilMs }) => `wait ${name} ${untilMs - nowMs}`),
    ...(plan.isFinished ? ['finished'] : []),
  ].join(', ')
}

interface Case {
  name: string
  spec?: Partial<PodSpec>
  observed?: Partial<ObservedPod>
  probes?: ProbeResults
  backoffs?: ReadonlyMap<string, RestartBackoff>
  termination?: Termination
  pod?: Pod
  expected: string
}

const yearMs = 365 * 86_400_000
const init = { name: 'init', image: 'app:1' }
const side = { name: 'side', image: 'app:1', restartPolicy: 'Always' }
const ready = [sandbox()]
const end: Termination = { startedAtMs: nowMs, graceSeconds: 30 }
const key = backoffKey({ name: 'main', image: 'app:1' })
const slow: RestartBackoff = { delayMs: 10_000, updatedAtMs: nowMs - 5_000 }

const cases: Case[] = [
  {
    name: 'a new pod gets a sandbox and its containers',
    expected: 'sandbox 0, start regular main #0',
  },
  {
    name: 'a new pod with init containers starts with the first',
    spec: { initContainers: [init, { ...init, name: 'second' }] },
    expected: 'sandbox 0, start init init #0',
  },
  {
    name: 'a sandbox alone gets its containers',
    observed: { sandboxes: ready },
    expected: 'start regular main #0',
  },
  {
    name: 'a running pod is left alone',
    observed: { sandboxes: ready, containers: [container('main')] },
    expected: '',
  },
  {
    name: 'a container that ended is started again',
    observed: { sandboxes: ready, containers: [ended('main', 1)] },
    expected: 'start regular main #1',
  },
  {
    name: 'a container that ended again waits for its back-off',
    observed: { sandboxes: ready, containers: [ended('main', 1, { restartCount: 2 })] },
    backoffs: new Map([[key, slow]]),
    expected: 'wait main 9000',
  },
  {
    name: 'after ten quiet minutes the back-off has lapsed',
    observed: { sandboxes: ready, containers: [ended('main', 1)] },
    backoffs: new Map([[key, { delayMs: 300_000, updatedAtMs: nowMs - 700_000 }]]),
    expected: 'start regular main #1',
  },
  {
    name: 'a container that ended by a clock that was ahead does not wait for that time',
    observed: {
      sandboxes: ready,
      containers: [ended('main', 1, { finishedAtMs: nowMs + 2 * yearMs })],
    },
    backoffs: new Map([[key, { delayMs: 10_000, updatedAtMs: nowMs + 2 * yearMs }]]),
    expected: 'start regular main #1',
  },
  {
    name: 'OnFailure: success is not repeated and finishes the pod',
    spec: { restartPolicy: 'OnFailure' },
    observed: { sandboxes: ready, containers: [ended('main', 0)] },
    expected: 'finished',
  },
  {
    name: 'OnFailure: failure is repeated',
    spec: { restartPolicy: 'OnFailure' },
    observed: { sandboxes: ready, containers: [ended('main', 2)] },
    expected: 'start regular main #1',
  },
  {
    name: 'Never: failure finishes the pod',
    spec: { restartPolicy: 'Never' },
    observed: { sandboxes: ready, containers: [ended('main', 2)] },
    expected: 'finished',
  },
  {
    name: 'an exit code rule wins over the policy of the pod',
    spec: {
      restartPolicy: 'Never',
      containers: [
        {
          name: 'main',
          image: 'app:1',
          restartPolicyRules: [{ action: 'Restart', exitCodes: { operator: 'In', values: [42] } }],
        },
      ],
    },
    observed: { sandboxes: ready, containers: [ended('main', 42)] },
    expected: 'start regular main #1',
  },
  {
    name: 'after a reboot: a new sandbox, then all containers, one attempt later',
    observed: {
      sandboxes: [sandbox(0, { isReady: false })],
      containers: [ended('main', 255)],
    },
    expected: 'sandbox 1, start regular main #1',
  },
  {
    name: 'after a reboot init containers run again',
    spec: { initContainers: [init] },
    observed: {
      sandboxes: [sandbox(1, { id: 's1' }), sandbox(0, { isReady: false })],
      containers: [ended('main', 255), ended('init', 0)],
    },
    expected: 'start init init #1',
  },
  {
    name: 'after a reboot a job that had succeeded stays so',
    spec: { restartPolicy: 'OnFailure' },
    observed: { sandboxes: [sandbox(0, { isReady: false })], containers: [ended('main', 0)] },
    expected: 'finished',
  },
  {
    name: 'a sandbox without address is replaced',
    observed: { sandboxes: [sandbox(0, { ips: [] })] },
    expected: 'stop s0, sandbox 1, start regular main #0',
  },
  {
    name: 'on the host network no address is needed',
    spec: { hostNetwork: true },
    observed: { sandboxes: [sandbox(0, { ips: [], isHostNetwork: true })] },
    expected: 'start regular main #0',
  },
  {
    name: 'init containers run one after the other',
    spec: { initContainers: [init, { ...init, name: 'second' }] },
    observed: { sandboxes: ready, containers: [ended('init', 0)] },
    expected: 'start init second #0',
  },
  {
    name: 'a running init container holds the others back',
    spec: { initContainers: [init] },
    observed: { sandboxes: ready, containers: [container('init')] },
    expected: '',
  },
  {
    name: 'an init container that failed is repeated',
    spec: { initContainers: [init] },
    observed: { sandboxes: ready, containers: [ended('init', 1)] },
    expected: 'start init init #1',
  },
  {
    name: 'Never: an init container that failed finishes the pod',
    spec: { restartPolicy: 'Never', initContainers: [init] },
    observed: { sandboxes: ready, containers: [ended('init', 1)] },
    expected: 'finished',
  },
  {
    name: 'a started sidecar lets the next ones run',
    spec: { initContainers: [side, init] },
    observed: { sandboxes: ready, containers: [container('side')] },
    expected: 'start init init #0',
  },
  {
    name: 'a sidecar that has not passed its startup probe holds the others back',
    spec: { initContainers: [{ ...side, startupProbe: {} }, init] },
    observed: { sandboxes: ready, containers: [container('side')] },
    expected: '',
  },
  {
    name: 'a sidecar that ended is started again beside the others, whatever the policy',
    spec: { restartPolicy: 'Never', initContainers: [side] },
    observed: { sandboxes: ready, containers: [container('main'), ended('side', 0)] },
    expected: 'start sidecar side #1',
  },
  {
    name: 'init containers that the runtime forgot are not run again in a pod that runs',
    spec: { initContainers: [init] },
    observed: { sandboxes: ready, containers: [container('main')] },
    expected: '',
  },
  {
    name: 'a container whose image changed is replaced, the others stay',
    spec: {
      restartPolicy: 'Never',
      containers: [
        { name: 'main', image: 'app:2' },
        { name: 'other', image: 'app:1' },
      ],
    },
    observed: { sandboxes: ready, containers: [container('main'), container('other')] },
    expected: 'kill main (spec-changed, 30s), start regular main #1',
  },
  {
    name: 'a failed liveness probe replaces the container, with the grace of the probe',
    spec: {
      containers: [
        { name: 'main', image: 'app:1', livenessProbe: { terminationGracePeriodSeconds: 7 } },
      ],
    },
    observed: { sandboxes: ready, containers: [container('main')] },
    probes: new Map([['main-0', { liveness: 'failure' }]]),
    expected: 'kill main (liveness, 7s), start regular main #1',
  },
  {
    name: 'a container that fails its probes again and again waits, too',
    observed: {
      sandboxes: ready,
      containers: [container('main', { restartCount: 3 }), ended('main', 137, { restartCount: 2 })],
    },
    probes: new Map([['main-3', { liveness: 'failure' }]]),
    backoffs: new Map([[key, slow]]),
    expected: 'kill main (liveness, 30s), wait main 9000',
  },
  {
    name: 'a new image does not wait for what the old one did',
    spec: { containers: [{ name: 'main', image: 'app:2' }] },
    observed: { sandboxes: ready, containers: [ended('main', 1)] },
    backoffs: new Map([[key, slow]]),
    expected: 'start regular main #1',
  },
  {
    name: 'Never: a failed liveness probe of the only container ends the pod',
    spec: { restartPolicy: 'Never' },
    observed: { sandboxes: ready, containers: [container('main')] },
    probes: new Map([['main-0', { liveness: 'failure' }]]),
    expected: 'finished',
  },
  {
    name: 'an ephemeral container is started once, even while init containers run',
    spec: { initContainers: [init], ephemeralContainers: [{ name: 'debug', image: 'app:1' }] },
    observed: { sandboxes: ready, containers: [container('init')] },
    expected: 'start ephemeral debug #0',
  },
  {
    name: 'an ephemeral container is never started again',
    spec: { ephemeralContainers: [{ name: 'debug', image: 'app:1' }] },
    observed: { sandboxes: ready, containers: [container('main'), ended('debug', 1)] },
    expected: '',
  },
  {
    name: 'a container in an unknown state is stopped before its successor starts',
    observed: { sandboxes: ready, containers: [container('main', { state: 'unknown' })] },
    expected: 'kill main (unknown-state, 2s), start regular main #1',
  },
  {
    name: 'the restart count survives a runtime that has forgotten everything',
    pod: {
      ...podOf(),
      status: {
        containerStatuses: [
          {
            name: 'main',
            image: 'app:1',
            imageID: '',
            containerID: 'containerd://x',
            ready: true,
            restartCount: 4,
          },
        ],
      },
    },
    expected: 'sandbox 0, start regular main #5',
  },
  {
    name: 'the end: regular containers first, together',
    spec: {
      initContainers: [side],
      containers: [
        { name: 'main', image: 'app:1' },
        { name: 'other', image: 'app:1' },
      ],
    },
    observed: {
      sandboxes: ready,
      containers: [container('main'), container('other'), container('side')],
    },
    termination: end,
    expected: 'kill main (pod-ends, 30s), kill other (pod-ends, 30s)',
  },
  {
    name: 'the end: then sidecars, the last one first, in the rest of the grace period',
    spec: { initContainers: [side, { ...side, name: 'side2' }] },
    observed: {
      sandboxes: ready,
      containers: [ended('main', 0), container('side'), container('side2')],
    },
    termination: { startedAtMs: nowMs - 12_000, graceSeconds: 30 },
    expected: 'kill side2 (pod-ends, 18s)',
  },
  {
    name: 'the end: with nothing running the sandbox goes',
    observed: { sandboxes: ready, containers: [ended('main', 0)] },
    termination: end,
    expected: 'stop s0, finished',
  },
]

for (const { name, spec, observed, expected, ...rest } of cases) {
  test(name, () => {
    const plan = planPod({
      pod: rest.pod ?? podOf(spec),
      observed: { sandboxes: [], containers: [], ...observed },
      probes: rest.probes ?? new Map(),
      backoffs: rest.backoffs ?? new Map(),
      ...(rest.termination ? { termination: rest.termination } : {}),
      nowMs,
    })
    assert.equal(inWords(plan), expected)
  })
}

test('a waiting container says for how long, in words people know', () => {
  const plan = planPod({
    pod: podOf(),
    observed: { sandboxes: ready, containers: [ended('main', 1)] },
    probes: new Map(),
    backoffs: new Map([[key, { delayMs: 80_000, updatedAtMs: nowMs }]]),
    nowMs,
  })
  assert.equal(
    plan.backOff[0]?.message,
    'back-off 1m20s restarting failed container=main pod=web_shop(u1)',
  )
  assert.equal(plan.wakeAtMs, nowMs + 79_000)
})
