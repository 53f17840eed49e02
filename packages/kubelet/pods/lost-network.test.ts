import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedNode } from '../testing/simulated-node.ts'
import type { PodNetwork } from './pod-network.ts'

const has = async (node: SimulatedNode, line: string): Promise<boolean> =>
  (await node.pods()).includes(line)

const ofNetwork = ['PodReadyToStartContainers', 'Ready', 'ContainersReady']

/** Returns the true ones of the conditions that need a network. */
async function networkConditions(node: SimulatedNode, pod: string): Promise<string[]> {
  const conditions = await node.trueConditions(pod)
  return conditions.filter((type) => ofNetwork.includes(type))
}

test('a pod ends though others have mounted over its network namespace', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  node.runtime.coverNetworks()
  await node.deletePod('web')
  await node.until('web is gone', async () => (await node.pods()).length === 0, 60)
  await node.until('nothing is left', () => node.runtime.size === 0, 60)
})

test('a sandbox that ended under mounts of others is replaced, also after the agent restarts', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  await node.crashAgent()
  node.runtime.coverNetworks()
  node.runtime.endSandbox('web')
  node.startAgent()
  await node.until('web runs in another', () => has(node, 'web Running ready 1'), 60)
  assert.deepEqual(node.runtime.running(), ['web/main'])
  await node.pass(120)
  assert.equal(node.runtime.starts.get('web/main'), 2)
})

test('a sandbox that cannot be inspected for long is replaced', async () => {
  await using node = await SimulatedNode.start()
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  await node.crashAgent()
  node.runtime.hide('web', 2)
  node.startAgent()
  await node.pass(60)
  assert.equal(node.runtime.starts.get('web/main'), 1, 'twice is a moment of trouble')
  await node.crashAgent()
  node.runtime.hide('web', Infinity)
  node.startAgent()
  await node.until('web runs in another', () => node.runtime.starts.get('web/main') === 2, 60)
  await node.until('the API knows', () => has(node, 'web Running ready 1'), 60)
})

/** Returns a network whose state the test sets. */
function brokenNetwork() {
  const lost = new Set<string>()
  const state = { isCutOff: false }
  const podNetwork: PodNetwork = {
    problems: () => (state.isCutOff ? ['the bridge is gone'] : []),
    isCutOff: () => state.isCutOff,
    hasLost: (id) => lost.has(id),
    beforeSandbox: async () => undefined,
  }
  return { podNetwork, lost, state }
}

test('a sandbox that has lost its network is replaced with one that has a network', async () => {
  const { podNetwork, lost } = brokenNetwork()
  await using node = await SimulatedNode.start({ podNetwork })
  await node.createPod('web')
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  assert.deepEqual(node.runtime.sandboxes(), ['web/0'])
  for (const { id } of await node.runtime.listPodSandboxes()) lost.add(id)
  await node.until('it is replaced', () => node.runtime.starts.get('web/main') === 2, 120)
  await node.until('web is Ready again', () => has(node, 'web Running ready 1'), 60)
  assert.ok(node.runtime.sandboxes().includes('web/1'))
})

test('no pod is Ready while there is no pod network, and none is restarted for that', async () => {
  const { podNetwork, state } = brokenNetwork()
  await using node = await SimulatedNode.start({ podNetwork })
  await node.createPod('web')
  await node.createPod('agent', { hostNetwork: true })
  await node.until('web runs', () => has(node, 'web Running ready 0'))
  await node.until('agent runs', () => has(node, 'agent Running ready 0'))
  state.isCutOff = true
  await node.until('web is not Ready', () => has(node, 'web Running unready 0'), 120)
  assert.deepEqual(await networkConditions(node, 'web'), [])
  assert.deepEqual(await networkConditions(node, 'agent'), ofNetwork)
  state.isCutOff = false
  await node.until('web is Ready again', () => has(node, 'web Running ready 0'), 120)
  assert.deepEqual(await networkConditions(node, 'web'), ofNetwork)
})
