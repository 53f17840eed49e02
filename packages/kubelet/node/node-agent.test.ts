import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { noPodNetwork, type PodNetwork } from '../pods/pod-network.ts'
import { SimulatedNode } from '../testing/simulated-node.ts'

const never = new AbortController().signal

/** Returns a network with the test's problems. */
function networkWith(problems: string[]): PodNetwork {
  return { ...noPodNetwork, problems: () => problems }
}

async function readyStatus(node: SimulatedNode): Promise<string | undefined> {
  const { items } = await node.api.resource(resources.nodes).list({}, never)
  return items[0]?.status?.conditions?.find(({ type }) => type === 'Ready')?.status
}

test('a node that was called Unknown while it was cut off is Ready soon after it returns', async () => {
  await using node = await SimulatedNode.start()
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True')
  node.setCut(true)
  await node.pass(60)
  const nodes = node.api.resource(resources.nodes)
  const patch = { status: { conditions: [{ type: 'Ready', status: 'Unknown' }] } }
  await nodes.patchStatus({ name: 'sim', type: 'strategic', patch }, never)
  node.setCut(false)
  await node.until('it is Ready again', async () => (await readyStatus(node)) === 'True', 20)
})

test('a node object that somebody deleted is registered again', async () => {
  await using node = await SimulatedNode.start()
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True')
  await node.api.resource(resources.nodes).delete({ name: 'sim' }, never)
  await node.until('it is Ready again', async () => (await readyStatus(node)) === 'True', 20)
})

test('a node uses its own name, even where the machine has another', async () => {
  await using node = await SimulatedNode.start()
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True')
  const { metadata, status } = await node.api.resource(resources.nodes).get({ name: 'sim' }, never)
  assert.equal(metadata.labels?.['kubernetes.io/hostname'], 'sim')
  const named = status?.addresses?.find(({ type }) => type === 'Hostname')
  assert.equal(named?.address, 'sim')
})

test('a node that starts again is never reported not ready while it checks its network', async () => {
  const problems: string[] = []
  await using node = await SimulatedNode.start({ podNetwork: networkWith(problems) })
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True')
  await node.crashAgent()
  problems.push('not looked at yet')
  node.startAgent()
  for (let seconds = 0; seconds < 3; seconds++) {
    await node.pass(1)
    assert.equal(await readyStatus(node), 'True')
  }
  problems.length = 0
  await node.pass(10)
  assert.equal(await readyStatus(node), 'True')
})

test('a node whose network stays out of order says so in its Ready condition', async () => {
  const problems = ['the bridge is gone']
  await using node = await SimulatedNode.start({ podNetwork: networkWith(problems) })
  await node.until('it is not Ready', async () => (await readyStatus(node)) === 'False', 20)
  const { items } = await node.api.resource(resources.nodes).list({}, never)
  const ready = items[0]?.status?.conditions?.find(({ type }) => type === 'Ready')
  assert.equal(ready?.reason, 'KubeletNotReady')
  assert.equal(ready?.message, 'node network not ready: the bridge is gone')
  problems.length = 0
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True', 20)
})

test('a node reports its wrong clock as a condition, and when it is right again', async () => {
  let fault: string | undefined = 'the clock says 1970'
  const notes = { annotations: () => ({}), clockFault: () => fault }
  await using node = await SimulatedNode.start({ notes })
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True')
  const shown = async (): Promise<unknown> => {
    const { status } = await node.api.resource(resources.nodes).get({ name: 'sim' }, never)
    const found = status?.conditions?.find(({ type }) => type === 'ClockProblem')
    return [found?.status, found?.message]
  }
  assert.deepEqual(await shown(), ['True', 'the clock says 1970'])
  fault = undefined
  await node.until('it is right again', async () => String(await shown()).startsWith('False'), 20)
})

test('annotations of a node follow its facts, and come back if somebody removes them', async () => {
  let end = '2027-01-01'
  const annotations = (): Record<string, string> => ({ 'example.com/ends': end })
  const notes = { annotations, clockFault: () => undefined }
  await using node = await SimulatedNode.start({ notes })
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True')
  const nodes = node.api.resource(resources.nodes)
  const shown = async (): Promise<unknown> =>
    (await nodes.get({ name: 'sim' }, never)).metadata.annotations?.['example.com/ends']
  await node.until('it is annotated', async () => (await shown()) === '2027-01-01', 20)
  end = '2028-01-01'
  await node.until('the later end is seen', async () => (await shown()) === '2028-01-01', 20)
  const patch = { metadata: { annotations: { 'example.com/ends': null } } }
  await nodes.patch({ name: 'sim', type: 'merge', patch }, never)
  assert.equal(await shown(), undefined)
  await node.until('it is annotated again', async () => (await shown()) === '2028-01-01', 20)
})
