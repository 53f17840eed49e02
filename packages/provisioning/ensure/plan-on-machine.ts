import { clusterNameOfEdge } from '../kind/edge-cluster.ts'
import { packageInForce } from '../kind/package-in-force.ts'
import type { MachineContext } from '../contract/step.ts'
import { places } from './commands.ts'
import { nodeNameOf } from './node-name.ts'
import { refuseOthers, takeMachine } from './take-machine.ts'

/** Writes the plan of the machine there, and resolves with its path. Rejects if the machine belongs to another cluster. */
export async function writePlan(context: MachineContext): Promise<string> {
  await refuseOthers(context)
  await context.shell.write(places.plan, await planText(context), 0o600)
  return places.plan
}

/**
 * Returns the same act for a machine that belongs to this cluster: one that nobody has is taken first, and one of another
 * cluster is left as it is. Two clusters may name one machine, and have looked at it in the same moment.
 */
export function onOwnMachine(
  act: (context: MachineContext) => Promise<string>,
): (context: MachineContext) => Promise<string> {
  return async (context) => {
    await takeMachine(await planText(context), context)
    return act(context)
  }
}

async function planText(context: MachineContext): Promise<string> {
  const { edge, machine } = context
  const { highAvailability } = edge.spec
  return JSON.stringify({
    clusterName: clusterNameOfEdge(edge),
    nodeName: await nodeNameOf(context),
    role: machine.role,
    isOffline: packageInForce(edge) !== undefined,
    hasVirtualIP: machine.role === 'Master' && highAvailability?.type === 'VirtualIP',
    ...edge.spec.network,
  })
}
