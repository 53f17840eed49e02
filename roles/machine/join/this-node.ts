import { rm } from 'node:fs/promises'
import { nodeNameOf, places, startNode } from '@skerry/provisioning'
import type { JoinOptions } from './join-options.ts'
import { nodeLook, refuseOtherSite } from './node-state.ts'
import { firstSteps, inOrder, ownMachine, type JoinDeps } from './own-machine.ts'
import { untilReady } from './until-ready.ts'

const tokenCommand = 'skerry token create --print-join-command --machine'

/**
 * Makes this machine, which has the program and nothing else, a node of a site, and waits until it is Ready. Done
 * again, it does what is missing. Rejects with an ExpectedError that says what to do.
 */
export async function joinThisNode(options: JoinOptions, deps: JoinDeps): Promise<void> {
  const { server, caHash, token } = options
  await refuseOtherSite(caHash)
  const joining = await ownMachine('Node', options, deps)
  const { context } = joining
  const nodeName = await nodeNameOf(context)
  const steps = [
    ...firstSteps(options, { ...joining, nodeName }, { tokenCommand, deps }),
    { does: 'start the node', act: () => startNode({ server, token, caHash }, context) },
    {
      does: 'wait until the node runs pods',
      async act() {
        const look = nodeLook({ nodeName, server }, context, deps)
        await untilReady({ what: `node ${nodeName}`, unit: 'skerry-node', look }, context)
        await rm(places.joinToken, { force: true })
        return `node ${nodeName} is Ready`
      },
    },
  ]
  await inOrder(steps, context.shell, deps)
}
