import { posix } from 'node:path'
import { clusterNameOfEdge } from '../kind/edge-cluster.ts'
import { packageInForce } from '../kind/package-in-force.ts'
import type { MachineContext } from '../contract/step.ts'
import { places } from './commands.ts'
import { nodeNameOf } from './node-name.ts'

/** Writes the plan of the machine there, and resolves with its path. */
export async function writePlan(context: MachineContext): Promise<string> {
  const { edge, machine, shell } = context
  const { highAvailability } = edge.spec
  const plan = {
    clusterName: clusterNameOfEdge(edge),
    nodeName: await nodeNameOf(context),
    role: machine.role,
    isOffline: packageInForce(edge) !== undefined,
    hasVirtualIP: machine.role === 'Master' && highAvailability?.type === 'VirtualIP',
    ...edge.spec.network,
  }
  const path = posix.join(places.settings, 'machine.json')
  await shell.write(path, JSON.stringify(plan), 0o600)
  return path
}
