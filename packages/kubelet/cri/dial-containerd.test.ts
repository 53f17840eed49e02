import { after, before } from 'node:test'
import { join } from 'node:path'
import { nodeCgroup } from '../pods/container-config.ts'
import { prepareHost, RealNode, realNodeName, runOnRealNode } from '../testing/real-node.ts'
import { runtimeContract } from '../testing/runtime-contract.ts'

await runOnRealNode(import.meta.url, 'the runtime contract on a real containerd', () => {
  let node: RealNode
  before(async () => {
    prepareHost()
    node = await RealNode.start()
    // The agent would end sandboxes that no pod of its API has.
    await node.stopAgent()
  })
  after(() => node[Symbol.asyncDispose]())
  runtimeContract('containerd', () => ({
    runtime: node.runtime,
    image: 'busybox:test',
    logDirectory: join(node.directory, 'contract-logs'),
    cgroupParent: nodeCgroup(realNodeName),
  }))
})
