import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { SimulatedNode } from '../testing/simulated-node.ts'

test('a pod is tried again at its time, whatever part of a millisecond is left until then', async () => {
  await using node = await SimulatedNode.start()
  const { signal } = new AbortController()
  const names = Array.from({ length: 8 }, (_, at) => `web-${at}`)
  for (const name of names) {
    await node.createPod(name, { containers: [{ name: 'main', image: 'late:1' }] })
    await node.clock.advance(1 / 3)
  }
  const pulls = async (): Promise<readonly string[]> =>
    (await node.pods()).filter((line) => line.endsWith(' Pending unready 0'))
  await node.until('no pod to have its image', async () => (await pulls()).length === 8, 60)
  await node.pass(5)
  for (const [at, name] of names.entries()) {
    // A change of the pod plans its next look again, at an odd moment.
    await node.clock.advance(1 / (at + 7))
    const patch = { metadata: { labels: { seen: 'yes' } } }
    const key = { namespace: 'default', name, type: 'merge', patch } as const
    await node.api.resource(resources.pods).patch(key, signal)
    await node.pass(0.25)
  }
  node.runtime.addImage('late:1')
  await node.until('all pods to run', () => node.runtime.running().length === 8, 120)
  assert.deepEqual(
    node.runtime.running(),
    names.map((name) => `${name}/main`),
  )
})
