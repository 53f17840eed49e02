import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ifThere, resources } from '@skerry/client'
import type { ContainerConfig } from '../cri/container-runtime.ts'
import { FakeDevicePlugin } from '../testing/fake-device-plugin.ts'
import { SimulatedNode } from '../testing/simulated-node.ts'

const signal = new AbortController().signal
const resource = 'example.com/dial'

interface Scene extends AsyncDisposable {
  readonly node: SimulatedNode
  /** The newest configuration of a pod's container. */
  readonly configOf: (pod: string) => ContainerConfig | undefined
  readonly plug: typeof FakeDevicePlugin.start
  readonly create: (pod: string, count?: number) => Promise<void>
  readonly counts: () => Promise<string>
  readonly runs: (pod: string) => Promise<void>
}

async function startScene(): Promise<Scene> {
  const configs = new Map<string, ContainerConfig>()
  const node = await SimulatedNode.start({
    program(config) {
      configs.set(config.labels['io.kubernetes.pod.name'] ?? '', config)
      return undefined
    },
  })
  const counts = async (): Promise<string> => {
    // It may not be registered yet.
    const found = await ifThere(node.api.resource(resources.nodes).get({ name: 'sim' }, signal))
    const { capacity, allocatable } = found?.status ?? {}
    return `${allocatable?.[resource]} of ${capacity?.[resource]}`
  }
  return {
    node,
    counts,
    configOf: (pod) => configs.get(pod),
    async plug(...asked) {
      // The kubelet's socket is there moments after its start.
      let plugin: FakeDevicePlugin | undefined
      await node.until('the plugin registers', async () => {
        plugin = await FakeDevicePlugin.start(...asked).catch(() => undefined)
        return plugin !== undefined
      })
      assert.ok(plugin)
      return plugin
    },
    async create(name, count = 1) {
      const limits = { [resource]: String(count) }
      const container = { name: 'main', image: 'app:1', resources: { limits, requests: limits } }
      await node.createPod(name, { containers: [container] })
    },
    runs: (pod) =>
      node.until(`${pod} runs`, async () =>
        (await node.pods()).some((line) => line.startsWith(`${pod} Running ready`)),
      ),
    [Symbol.asyncDispose]: () => node[Symbol.asyncDispose](),
  }
}

const devicesOf = (config: ContainerConfig | undefined): string[] =>
  (config?.devices ?? []).map(({ hostPath }) => hostPath)

test('a container gets devices of its own, and the next pod waits until they are free', async () => {
  await using scene = await startScene()
  const { node, configOf, counts } = scene
  await using plugin = await scene.plug(node.dataDirectory, ['d1', 'd2', 'd3'])
  await node.until('the node reports them', async () => (await counts()) === '3 of 3')
  await scene.create('one', 2)
  await scene.runs('one')
  assert.deepEqual(devicesOf(configOf('one')), ['/dev/d1', '/dev/d2'])
  assert.deepEqual(configOf('one')?.envs[0], { key: 'DIALS', value: 'd1,d2' })
  await scene.create('two', 2)
  await node.until('two waits', async () => (await node.waitingOf('two')).includes('unavailable'))
  assert.match(await node.waitingOf('two'), /CreateContainerConfigError: .*Available: 1$/)
  await node.deletePod('one')
  await scene.runs('two')
  assert.deepEqual(devicesOf(configOf('two')), ['/dev/d1', '/dev/d2'])
  assert.deepEqual(plugin.calls, ['Allocate d1,d2', 'Allocate d1,d2'])
})

test('devices stay with their pod through restarts of container, agent and machine', async () => {
  await using scene = await startScene()
  const { node, configOf } = scene
  await using plugin = await scene.plug(node.dataDirectory, ['a', 'b', 'c'], {
    preStartRequired: true,
    prefers: ['c', 'b', 'a'],
  })
  await scene.create('one')
  await scene.runs('one')
  assert.deepEqual(devicesOf(configOf('one')), ['/dev/c'])
  node.runtime.exit('one', 'main', 1)
  await node.until('one is back', async () => (await node.pods()).includes('one Running ready 1'))
  assert.deepEqual(plugin.calls, ['Allocate c', 'PreStart c', 'PreStart c'])
  await node.crashAgent()
  node.startAgent()
  await scene.create('two')
  await node.until('two waits for the plugin', async () =>
    (await node.waitingOf('two')).includes('its device plugin is not registered at this node'),
  )
  await node.until('it registers again', () =>
    plugin.register().then(
      () => true,
      () => false,
    ),
  )
  await scene.runs('two')
  assert.deepEqual(devicesOf(configOf('two')), ['/dev/b'])
  await plugin[Symbol.asyncDispose]()
  await node.reboot()
  await node.pass(30)
  assert.deepEqual(node.runtime.running(), [], 'nothing starts without the plugin')
  plugin.calls.length = 0
  await plugin.start()
  await scene.runs('one')
  await scene.runs('two')
  assert.deepEqual(plugin.calls.toSorted(), [
    'Allocate b',
    'Allocate c',
    'PreStart b',
    'PreStart c',
  ])
})

test('devices that fall ill or whose plugin is gone are not given to anybody', async () => {
  await using scene = await startScene()
  const { node, counts } = scene
  await using plugin = await scene.plug(node.dataDirectory, ['a', 'b'])
  await node.until('the node reports them', async () => (await counts()) === '2 of 2')
  plugin.setDevices([
    { id: 'a', health: 'Unhealthy' },
    { id: 'b', health: 'Healthy' },
  ])
  await node.until('one is ill', async () => (await counts()) === '1 of 2')
  plugin.isBroken = true
  await scene.create('one')
  await node.until('the failure is told', async () =>
    (await node.waitingOf('one')).includes('the device is stuck'),
  )
  plugin.isBroken = false
  await scene.runs('one')
  assert.deepEqual(devicesOf(scene.configOf('one')), ['/dev/b'])
  await plugin[Symbol.asyncDispose]()
  await node.until('none is healthy', async () => (await counts()) === '0 of 2')
  await node.until('they are forgotten', async () => (await counts()) === '0 of 0')
  assert.deepEqual(await node.pods(), ['one Running ready 0'])
})

test('a preference of a plugin counts only among the free devices', async () => {
  await using scene = await startScene()
  await using plugin = await scene.plug(scene.node.dataDirectory, ['a', 'b', 'c'], { prefers: [] })
  plugin.lies = ['/etc']
  await scene.create('one')
  await scene.runs('one')
  assert.deepEqual(plugin.calls, ['Allocate a'])
})

const refused: readonly [what: string, options: object, why: RegExp][] = [
  ['another version', { version: 'v1' }, /API version "v1" is not supported by kubelet/],
  ['a resource without a domain', { resource: 'cpu' }, /the ResourceName "cpu" is invalid/],
  ['a resource of Kubernetes', { resource: 'kubernetes.io/x' }, /is invalid/],
]
test('a plugin is refused with the reason', async () => {
  await using scene = await startScene()
  await using _good = await scene.plug(scene.node.dataDirectory, ['a'])
  for (const [what, options, why] of refused) {
    const other = { endpoint: 'other.sock', ...options }
    await assert.rejects(FakeDevicePlugin.start(scene.node.dataDirectory, ['a'], other), why, what)
  }
  await assert.rejects(
    FakeDevicePlugin.start(scene.node.dataDirectory, ['a'], { endpoint: '../fake.sock' }),
    /must be the name of a socket/,
  )
})
