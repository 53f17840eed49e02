import assert from 'node:assert/strict'
import { test } from 'node:test'
import { resources } from '@skerry/client'
import { SimulatedNode } from '../testing/simulated-node.ts'

const never = new AbortController().signal

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

test('a node goes by its own name, also where the machine has another', async () => {
  await using node = await SimulatedNode.start()
  await node.until('it is Ready', async () => (await readyStatus(node)) === 'True')
  const { metadata, status } = await node.api.resource(resources.nodes).get({ name: 'sim' }, never)
  assert.equal(metadata.labels?.['kubernetes.io/hostname'], 'sim')
  const named = status?.addresses?.find(({ type }) => type === 'Hostname')
  assert.equal(named?.address, 'sim')
})
