import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CronJob, Pod } from '@skerry/api'
import { simulatedClock, type SimulatedClock } from '@skerry/base'
import { resources } from '@skerry/client'
import { startTestApiServer } from '@skerry/testing'
import { startControllerWorld, type ControllerWorld } from './testing/controller-world.ts'

const dayMs = 86_400_000
const yearMs = 365 * dayMs
const rightMs = Date.UTC(2026, 10, 23, 8, 0, 30)
const namespace = 'default'

/** Advances by seconds, with the controllers' requests between them, until there is a result. */
async function advanceUntil<R>(
  clock: SimulatedClock,
  see: () => Promise<R | undefined>,
  msMax: number,
): Promise<R> {
  for (let passedMs = 0; passedMs <= msMax; passedMs += 1_000) {
    const seen = await see()
    if (seen !== undefined) return seen
    await clock.advance(1_000)
  }
  throw new Error(`Waited ${msMax} ms in vain`)
}

const daily: CronJob = {
  apiVersion: 'batch/v1',
  kind: 'CronJob',
  metadata: { name: 'daily', namespace },
  spec: {
    schedule: '0 9 * * *',
    timeZone: 'UTC',
    jobTemplate: {
      spec: {
        template: {
          spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'a' }] },
        },
      },
    },
  },
}

async function scheduledOf(world: ControllerWorld): Promise<string[]> {
  const { items } = await world.client(resources.jobs).list({ namespace }, world.signal)
  return items.flatMap(({ metadata }) => {
    const at = metadata.annotations?.['batch.kubernetes.io/cronjob-scheduled-timestamp']
    return at === undefined ? [] : [at]
  })
}

test('a cron job is on time once a clock that was years behind, and then years ahead, is right again', async () => {
  await using api = await startTestApiServer()
  const clock = simulatedClock(rightMs - 10 * yearMs)
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['cronjob-controller'],
    clock,
  })
  // The API server's clock created it, so its next time is counted from the controller's clock.
  await world.client(resources.cronJobs).create(daily, world.signal)
  await world.eventually(resources.cronJobs, ([found]) =>
    found?.status?.lastScheduleTime?.startsWith('2016-11-25T') ? true : undefined,
  )
  const untilScheduled = (count: number): Promise<string[]> =>
    advanceUntil(
      clock,
      async () => {
        const found = await scheduledOf(world)
        return found.length >= count ? found : undefined
      },
      5 * 60_000,
    )
  // Four minutes before nine; by the clock that was behind it would wait for an hour.
  clock.jump(10 * yearMs + 56 * 60_000)
  assert.deepEqual((await untilScheduled(2)).toSorted(), [
    '2026-11-22T09:00:00+00:00',
    '2026-11-23T09:00:00+00:00',
  ])
  clock.jump(2 * yearMs)
  assert.equal((await untilScheduled(3)).length, 3, 'one of two years')
  clock.jump(-2 * yearMs + dayMs - 3 * 60_000)
  await clock.advance(61_000)
  await untilScheduled(4)
  assert.ok((await scheduledOf(world)).includes('2026-11-24T09:00:00+00:00'))
})

const taint = { key: 'k', effect: 'NoExecute', timeAdded: '2026-11-23T08:00:30Z' }
const tolerant: Pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'tolerant', namespace },
  spec: {
    nodeName: 'n',
    containers: [{ name: 'main', image: 'a' }],
    tolerations: [{ key: 'k', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }],
  },
}

for (const jumpMs of [-10 * yearMs, -dayMs, dayMs, 2 * yearMs, 11 * yearMs]) {
  test(`a pod stays on a tainted node for as long as it tolerates when the clock jumps by ${jumpMs / dayMs} days`, async () => {
    await using api = await startTestApiServer()
    const clock = simulatedClock(rightMs)
    await using world = startControllerWorld({
      transport: api.transport,
      controllers: ['taint-eviction-controller'],
      clock,
    })
    const node = {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'n' },
      spec: { taints: [taint] },
    }
    await world.client(resources.nodes).create(node, world.signal)
    await world.client(resources.pods).create(tolerant, world.signal)
    const isThere = async (): Promise<boolean> => {
      const { items } = await world.client(resources.pods).list({ namespace }, world.signal)
      return items.some(({ metadata }) => metadata.deletionTimestamp === undefined)
    }
    await clock.advance(20_000)
    clock.jump(jumpMs)
    await clock.advance(200_000)
    assert.ok(await isThere())
    await advanceUntil(clock, async () => ((await isThere()) ? undefined : true), 150_000)
  })
}

test('a node that renews its lease stays Ready whatever the clock does, and a silent one does not', async () => {
  await using api = await startTestApiServer()
  const clock = simulatedClock(rightMs)
  await using world = startControllerWorld({
    transport: api.transport,
    controllers: ['node-lifecycle-controller'],
    clock,
  })
  const nowText = (): string => new Date(clock.now()).toISOString().replace(/\.\d+Z$/, 'Z')
  const metadata = { name: 'n' }
  const conditions = [{ type: 'Ready', status: 'True', lastHeartbeatTime: nowText() }]
  const node = await world
    .client(resources.nodes)
    .create({ apiVersion: 'v1', kind: 'Node', metadata, spec: {} }, world.signal)
  await world
    .client(resources.nodes)
    .updateStatus({ ...node, status: { conditions } }, world.signal)
  const key = { namespace: 'kube-node-lease', name: 'n' }
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: key }
  const space = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: key.namespace } }
  await world.client(resources.namespaces).create(space, world.signal)
  await world.client(resources.leases).create({ ...lease, spec: {} }, world.signal)
  const readiness = async (): Promise<string | undefined> => {
    const { status } = await world.client(resources.nodes).get(metadata, world.signal)
    return status?.conditions?.find(({ type }) => type === 'Ready')?.status
  }
  for (const jumpMs of [0, -10 * yearMs, 10 * yearMs, -dayMs, 2 * dayMs, 11 * yearMs]) {
    clock.jump(jumpMs)
    for (let turn = 0; turn < 8; turn += 1) {
      const patch = { spec: { renewTime: nowText().replace('Z', `.00000${turn}Z`) } }
      await world.client(resources.leases).patch({ ...key, type: 'merge', patch }, world.signal)
      await clock.advance(10_000)
    }
    assert.equal(await readiness(), 'True', `${jumpMs} ms`)
  }
  clock.jump(-11 * yearMs)
  await advanceUntil(
    clock,
    async () => ((await readiness()) === 'Unknown' ? true : undefined),
    120_000,
  )
})
