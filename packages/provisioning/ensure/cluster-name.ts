import { clusterNameOfEdge } from '../kind/edge-cluster.ts'
import type { HubContext } from '../contract/step.ts'

/** Takes the name of the cluster on the hub, before a machine is touched. */
export async function claimName({ edge, hub, signal }: HubContext): Promise<string> {
  const name = clusterNameOfEdge(edge)
  await hub.claim(name, edge, signal)
  return `cluster ${name}`
}

/** Removes the cluster from the hub, with the rights of its agent and the logins that were made for it. */
export async function forgetCluster({ edge, hub, signal }: HubContext): Promise<string> {
  const name = clusterNameOfEdge(edge)
  await hub.forget(name, edge, signal)
  await hub.removeLogins(edge, signal)
  return `cluster ${name} is off the hub`
}
