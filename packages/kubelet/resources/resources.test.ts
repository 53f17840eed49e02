import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Container, Pod, PodSpec } from '@skerry/api'
import { rejectPod } from './admit-pod.ts'
import { linuxContainerResources, oomScore, podResources } from './container-resources.ts'
import { qosClass } from './qos.ts'

type Resources = NonNullable<Container['resources']>

const container = (resources: Resources, name = 'main'): Container => ({ name, resources })
const podOf = (containers: Container[], spec: Partial<PodSpec> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop', uid: 'u1' },
  spec: { containers, ...spec },
})

const full: Resources = { limits: { cpu: '500m', memory: '64Mi' } }
const half: Resources = { requests: { cpu: '250m', memory: '32Mi' }, limits: { memory: '64Mi' } }
const gib = 1024 ** 3

const classes: [string, Resources[], string][] = [
  ['nothing asked', [{}], 'BestEffort'],
  ['limits alone', [full], 'Guaranteed'],
  [
    'requests equal to limits, written otherwise',
    [{ ...full, requests: { cpu: '0.5', memory: '65536Ki' } }],
    'Guaranteed',
  ],
  ['requests below limits', [half], 'Burstable'],
  ['one of two asks nothing', [full, {}], 'Burstable'],
]

for (const [name, resources, expected] of classes) {
  test(`quality of service: ${name}`, () => {
    assert.equal(qosClass(podOf(resources.map((one) => container(one)))), expected)
  })
}

test('the OOM score decides which container is killed first', () => {
  const score = (resources: Resources, spec: Partial<PodSpec> = {}): number =>
    oomScore(podOf([container(resources)], spec), container(resources), gib)
  assert.equal(score({}), 1000)
  assert.equal(score(full), -997)
  assert.equal(score(half), 969)
  assert.equal(score({ requests: { memory: '4Gi' } }), 3)
  assert.equal(score({}, { priority: 2_000_000_000 }), -997)
})

test('requests and limits become shares, quota and limit', () => {
  const node = { cgroupMode: 'v1', memoryCapacityBytes: gib } as const
  const of = (resources: Resources) => {
    const one = container(resources)
    const { cpuShares, cpuQuota, memoryLimitInBytes } = linuxContainerResources(
      podOf([one]),
      one,
      node,
    )
    return [cpuShares, cpuQuota, memoryLimitInBytes]
  }
  assert.deepEqual(of({}), [2, 0, 0])
  assert.deepEqual(of(full), [512, 50_000, 64 * 1024 ** 2])
  assert.deepEqual(of(half), [256, 0, 64 * 1024 ** 2])
  assert.deepEqual(of({ limits: { cpu: '1m' } }), [2, 1000, 0])
})

test('without cgroups the runtime is asked for no limit', () => {
  const one = container(full)
  const node = { cgroupMode: 'none', memoryCapacityBytes: gib } as const
  assert.deepEqual(linuxContainerResources(podOf([one]), one, node), { oomScoreAdj: -997 })
})

test('a pod gets the sum of its containers, or an init container alone', () => {
  assert.deepEqual(podResources(podOf([container(full), container(full)])), {
    cpuShares: 1024,
    cpuQuota: 100_000,
    memory: 128 * 1024 ** 2,
  })
  assert.equal(podResources(podOf([container(full), container({})])).memory, 0)
  const big = container({ limits: { cpu: '2', memory: '1Gi' } }, 'init')
  assert.equal(podResources(podOf([container(full)], { initContainers: [big] })).memory, gib)
})

test('a pod that does not fit is refused, with the resource that is short', () => {
  const allocatable = { cpuMilli: 1000, memoryBytes: gib, ephemeralStorageBytes: gib }
  const reject = (pod: Pod, others: Pod[], podsMax = 10) =>
    rejectPod({ pod, others, allocatable, podsMax })
  const cpu = (amount: string): Pod => podOf([container({ requests: { cpu: amount } })])
  assert.equal(reject(cpu('1'), []), undefined)
  assert.deepEqual(reject(cpu('600m'), [cpu('500m')]), {
    reason: 'OutOfcpu',
    message:
      "Pod was rejected: Node didn't have enough resource: cpu, requested: 600, used: 500, capacity: 1000",
  })
  assert.equal(reject(cpu('1'), [cpu('0')], 1)?.reason, 'OutOfpods')
  const port = (hostIP: string): Pod =>
    podOf([{ name: 'main', ports: [{ containerPort: 80, hostPort: 80, hostIP }] }])
  assert.equal(reject(port(''), [port('10.0.0.1')])?.reason, 'NodePorts')
  assert.equal(reject(port('10.0.0.2'), [port('10.0.0.1')]), undefined)
})
