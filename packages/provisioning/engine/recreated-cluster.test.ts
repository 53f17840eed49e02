import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { HubSide, Step } from '../contract/step.ts'
import { edgeClusterResource, type EdgeCluster } from '../kind/edge-cluster.ts'
import { sceneKey as key, startControllerScene } from '../testing/controller-scene.ts'
import { fakeShell } from '../testing/fake-shell.ts'

const soon = (): AbortSignal => AbortSignal.timeout(60_000)

const edgeOf = (address: string): EdgeCluster => ({
  apiVersion: 'hub.skerry.io/v1alpha1',
  kind: 'EdgeCluster',
  metadata: key,
  spec: {
    machines: [
      {
        addresses: [address],
        role: 'Master',
        credentials: { name: 'ssh' },
        acceptNewHostKeys: true,
      },
    ],
  },
})

test('an object whose finalizer was removed in the middle of a step leaves nothing to the next one of its name', async () => {
  const done: string[] = []
  const begun = Promise.withResolvers<void>()
  const gate = Promise.withResolvers<void>()
  const onMachine = (name: string, more: Partial<Step> = {}): Step => ({
    does: 'work',
    needs: [],
    ...more,
    name,
    place: 'machines',
    async act({ machine }) {
      if (done.length === 1) {
        begun.resolve()
        await gate.promise
      }
      done.push(`${name}@${machine.address}`)
      return 'done'
    },
  })
  const parts = {
    steps: [onMachine('Connect'), onMachine('Install', { changesMachine: true })],
    departure: [onMachine('Clean')],
    removal: [],
    // The steps of this test do not ask the hub.
    hub: {} as HubSide,
    openShell: async () => fakeShell(),
  }
  await using scene = await startControllerScene(parts, soon())
  const edges = scene.api.resource(edgeClusterResource)
  await edges.create(edgeOf('10.0.0.1'), soon())
  await begun.promise
  await edges.delete(key, soon())
  await edges.patch({ ...key, type: 'merge', patch: { metadata: { finalizers: null } } }, soon())
  await edges.create(edgeOf('10.0.0.2'), soon())
  gate.resolve()
  const made = await scene.until((found) => found?.status?.phase === 'Ready')
  assert.deepEqual(
    made?.status?.machines?.map(({ address }) => address),
    ['10.0.0.2'],
  )
  assert.deepEqual(
    done.filter((text) => !text.endsWith('@10.0.0.1')),
    ['Connect@10.0.0.2', 'Install@10.0.0.2'],
  )
  assert.ok(!done.includes('Clean@10.0.0.1'), done.join())
})
