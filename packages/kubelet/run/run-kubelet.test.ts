import assert from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom, unlessAborted } from '@skerry/base'
import { resources } from '@skerry/client'
import type { PodIsolation } from '../pods/pod-isolation.ts'
import { SimulatedNode } from '../testing/simulated-node.ts'

const has = async (node: SimulatedNode, line: string): Promise<boolean> =>
  (await node.pods()).includes(line)

test('a pod runs, is restarted with growing pauses, and leaves nothing when deleted', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  node.runtime.exit('web', 'main', 1)
  await node.until('web is back at once', () => has(node, 'web Running ready 1'), 5)
  node.runtime.exit('web', 'main', 1)
  await node.until('web waits', () => has(node, 'web Running unready 1'), 5)
  await node.pass(5)
  assert.deepEqual(node.runtime.running(), [])
  await node.until('web is back after 10 s', () => has(node, 'web Running ready 2'), 10)
  await node.deletePod('web')
  await node.until('web is gone', async () => (await node.pods()).length === 0)
  await node.until('nothing is left', () => node.runtime.size === 0)
})

test('a job runs once and keeps its result', async () => {
  await using node = await SimulatedNode.start({
    program: () => ({ afterMs: 2_000, exitCode: 0 }),
  })
  await node.createPod('job', { restartPolicy: 'OnFailure' })
  await node.until('the job has succeeded', () => has(node, 'job Succeeded unready 0'))
  await node.reboot()
  await node.pass(60)
  assert.equal(node.runtime.starts.get('job/main'), 1)
})

test('init containers run in order before the others', async () => {
  await using node = await SimulatedNode.start({
    program: ({ metadata }) =>
      metadata.name.startsWith('init') ? { afterMs: 3_000, exitCode: 0 } : undefined,
  })
  const init = (name: string) => ({ name, image: 'app:1' })
  await node.createPod('web', { initContainers: [init('init-a'), init('init-b')] })
  await node.until('the first runs', () => node.runtime.running().includes('web/init-a'))
  assert.deepEqual(node.runtime.running(), ['web/init-a'])
  await node.until('the second runs', () => node.runtime.running().includes('web/init-b'))
  assert.deepEqual(node.runtime.running(), ['web/init-b'])
  await node.until('web runs', () => has(node, 'web Running ready 0'))
})

test('a crash of the agent restarts nothing', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  await node.crashAgent()
  await node.pass(30)
  node.startAgent()
  await node.pass(30)
  assert.equal(node.runtime.starts.get('web/main'), 1)
  assert.deepEqual(await node.pods(), ['web Running ready 0'])
})

test('a node that goes to another control plane runs the pods on that it finds there, and ends the others', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.createPod('left')
  await node.until('both run', async () =>
    (await node.pods()).every((line) => line.includes('Running ready')),
  )
  await node.goToCopy(['left'])
  await node.until('the other one is gone', () => !node.runtime.running().includes('left/main'))
  await node.deletePod('web')
  await node.until('the new control plane is obeyed', async () => (await node.pods()).length === 0)
  assert.equal(node.runtime.starts.get('web/main'), 1)
})

test('after a power cut without the API the pods come back; when it returns none restarts', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.createPod('db')
  await node.until('both run', () => node.runtime.running().length === 2)
  await node.pass(5)
  node.setCut(true)
  await node.reboot()
  await node.until('both are back', () => node.runtime.running().length === 2, 30)
  await node.pass(600)
  node.setCut(false)
  await node.until('the API knows', async () =>
    (await node.pods()).every((line) => line.endsWith(' 1')),
  )
  await node.pass(60)
  assert.deepEqual([...node.runtime.starts.values()], [2, 2])
  assert.deepEqual(await node.pods(), ['db Running ready 1', 'web Running ready 1'])
})

test('a pod that was deleted while the node was cut off ends when it is back', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  node.setCut(true)
  await node.deletePod('web')
  await node.pass(60)
  assert.deepEqual(node.runtime.running(), ['web/main'])
  node.setCut(false)
  await node.until('web is gone', async () => (await node.pods()).length === 0)
  await node.until('nothing is left', () => node.runtime.size === 0)
})

test('a node that was cut off for long knows its pods seconds after the control plane answers again', async () => {
  await using node = await SimulatedNode.start()
  for (const cutSeconds of [240, 250, 260]) {
    await node.createPod('web')
    await node.until('web runs', () => has(node, 'web Running ready 0'))
    node.setCut(true)
    await node.deletePod('web')
    await node.pass(cutSeconds)
    node.setCut(false)
    // The pod may take 5 s to end.
    await node.until('web is gone', async () => (await node.pods()).length === 0, 22)
  }
})

test('a missing image is reported, and pulled again at growing intervals', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web', { containers: [{ name: 'main', image: 'nowhere:1' }] })
  await node.until('web waits', () => has(node, 'web Pending unready 0'))
  assert.equal(node.runtime.starts.size, 0)
})

test('a container whose start failed while the clock was ahead, or behind, is tried again in time', async () => {
  for (const days of [-4_015, -730, -1, 1, 3_650]) {
    await using node = await SimulatedNode.start()
    await node.createPod('web', { containers: [{ name: 'main', image: 'nowhere:1' }] })
    await node.until('web waits', () => has(node, 'web Pending unready 0'))
    // Time passes until it has failed.
    await node.pass(2)
    node.runtime.addImage('nowhere:1')
    node.clock.jump(days * 86_400_000)
    await node.until('web runs', () => has(node, 'web Running ready 0'), 400)
  }
})

test('a container that has ended and whose next start fails waits for both pauses, and calmly', async () => {
  await using node = await SimulatedNode.start()
  const envFrom = [{ configMapRef: { name: 'settings' } }]
  const settings = { apiVersion: 'v1' as const, kind: 'ConfigMap' as const, data: { a: 'b' } }
  const maps = node.api.resource(resources.configMaps)
  const key = { namespace: 'default', name: 'settings' }
  const { signal } = new AbortController()
  await maps.create({ ...settings, metadata: key }, signal)
  await node.createPod('web', { containers: [{ name: 'main', image: 'app:1', envFrom }] })
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  await maps.delete(key, signal)
  await node.pass(5)
  node.runtime.exit('web', 'main', 1)
  // A loop without a pause would stop the simulated clock.
  await node.pass(60)
  await maps.create({ ...settings, metadata: key }, signal)
  await node.until('web is back', async () => (await node.pods()).some((one) => / ready/.test(one)))
})

test('more pods than the node has room for are refused', async () => {
  await using node = await SimulatedNode.start()
  const resources = { requests: { cpu: '3' } }
  await node.createPod('one', { containers: [{ name: 'main', image: 'app:1', resources }] })
  await node.until('one runs', () => has(node, 'one Running ready 0'))
  await node.createPod('two', { containers: [{ name: 'main', image: 'app:1', resources }] })
  await node.until('two is refused', () => has(node, 'two Failed unready 0'))
  assert.deepEqual(node.runtime.running(), ['one/main'])
})

for (const seed of [11, 12, 146]) {
  test(`whatever happens, in any order, all pods run in the end (seed ${seed})`, async () => {
    await using node = await SimulatedNode.start({ seed })
    const random = seededRandom(seed)
    const names = ['a', 'b', 'c']
    for (const name of names) await node.createPod(name)
    const troubles: (() => Promise<void> | void)[] = [
      () => node.crashAgent(),
      () => node.startAgent(),
      () => node.reboot(),
      () => node.setCut(true),
      () => node.setCut(false),
      () => node.runtime.setDown(true),
      () => node.runtime.setDown(false),
      () => endOne(node, random.next()),
    ]
    for (let step = 0; step < 25; step++) {
      await troubles[Math.floor(random.next() * troubles.length)]?.()
      await node.pass(1 + random.next() * 5)
    }
    node.setCut(false)
    node.runtime.setDown(false)
    node.startAgent()
    await node.until('all run', () => node.runtime.running().length === names.length)
    await node.until('the API knows', async () =>
      (await node.pods()).every((line) => line.includes(' Running ready ')),
    )
    await node.pass(30)
    assert.deepEqual(node.runtime.running(), ['a/main', 'b/main', 'c/main'])
    for (const name of names) await node.deletePod(name)
    await node.until('nothing is left', () => node.runtime.size === 0)
  })
}

function endOne(node: SimulatedNode, chance: number): void {
  const running = node.runtime.running()
  const [pod, container] = running[Math.floor(chance * running.length)]?.split('/') ?? []
  if (pod && container) node.runtime.exit(pod, container, 1)
}

/** Returns an isolation that lets pods start on command, and records their addresses. */
function createGate() {
  const open = Promise.withResolvers<void>()
  const places = new Map<string, string>()
  const isolation: PodIsolation = {
    placed: ({ metadata }, address) => void places.set(metadata.name ?? '', address),
    gone: ({ metadata }) => void places.delete(metadata.name ?? ''),
    whenKept: (_pod, signal) => unlessAborted(open.promise, signal),
  }
  return { isolation, places, open: open.resolve }
}

test('a pod that takes more of the disk than its emptyDir may is evicted', async () => {
  await using node = await SimulatedNode.start()
  const volumes = [{ name: 'cache', emptyDir: { sizeLimit: '64Ki' } }]
  for (const name of ['small', 'large']) await node.createPod(name, { volumes })
  await node.until('both run', async () => (await node.pods()).every((one) => / ready/.test(one)))
  await node.fillVolume('small', { volume: 'cache', bytes: 10_000 })
  await node.fillVolume('large', { volume: 'cache', bytes: 100_000 })
  await node.until('large is evicted', () => has(node, 'large Failed unready 0'))
  assert.match(
    await node.messageOf('large'),
    /^Evicted: Usage of EmptyDir volume "cache" exceeds the limit "64Ki"\. $/,
  )
  assert.ok(await has(node, 'small Running ready 0'))
})

test('no container starts before the pod is isolated as policies say', async () => {
  const gate = createGate()
  await using node = await SimulatedNode.start({ isolation: gate.isolation })
  await node.createPod('web', { initContainers: [{ name: 'first', image: 'app:1' }] })
  await node.createPod('agent', { hostNetwork: true })
  await node.createPod('unwanted')
  await node.until('the node reports the place of both', () => gate.places.size === 2)
  await node.until('a pod in its own network runs', () => has(node, 'agent Running ready 0'))
  await node.deletePod('unwanted')
  await node.until('a pod may be deleted meanwhile', () => !gate.places.has('unwanted'))
  await node.pass(30)
  assert.deepEqual(node.runtime.running(), ['agent/main'])
  gate.open()
  await node.until('the pod starts', () => node.runtime.running().includes('web/first'))
  await node.deletePod('web')
  await node.until('it has given its address back', () => gate.places.size === 0)
})

test('an agent that starts again reports where the running pods are', async () => {
  const gate = createGate()
  gate.open()
  await using node = await SimulatedNode.start({ isolation: gate.isolation })
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  await node.crashAgent()
  gate.places.clear()
  node.setCut(true)
  node.startAgent()
  await node.until('it says so again', () => gate.places.has('web'))
  assert.equal(node.runtime.starts.get('web/main'), 1)
})
