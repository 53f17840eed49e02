import { clusterNameOfEdge, type EdgeCluster } from '../kind/edge-cluster.ts'
import { provisioningBounds } from '../limits-table.ts'
import { StepWaiting, type HubContext } from '../contract/step.ts'

const { lookMs } = provisioningBounds.imports

/** Makes the Secret with which the agent of the cluster registers. Nothing of it is in the status. */
export async function makeJoinManifest({ edge, hub, signal }: HubContext): Promise<string> {
  const join = await hub.imports.keepJoin(clusterNameOfEdge(edge), edge, signal)
  return `Secret ${join.name} has the manifest until ${join.expires}; ${howToApply(edge)}`
}

/** Waits until the agent is connected. The manifest stays valid meanwhile. */
export async function awaitAgent({ edge, hub, print, signal }: HubContext): Promise<string> {
  const name = clusterNameOfEdge(edge)
  const { isConnected, isRegistered, problem } = await hub.imports.state(name, edge, signal)
  if (isConnected) return `the agent of cluster ${name} is connected`
  const join = await hub.imports.keepJoin(name, edge, signal)
  if (join.isNew) print(`the manifest is new: its token is valid until ${join.expires}`)
  const text = isRegistered
    ? `cluster ${name} has registered and is not connected${problem === undefined ? '' : `: ${problem}`}`
    : `no agent has registered yet: ${howToApply(edge)}`
  throw new StepWaiting(text, lookMs)
}

/** Waits until the API of the cluster answers; then nobody needs the token any more. */
export async function awaitImported({ edge, hub, signal }: HubContext): Promise<string> {
  const name = clusterNameOfEdge(edge)
  const state = await hub.imports.state(name, edge, signal)
  if (!state.isReady) {
    const why = state.problem === undefined ? '' : `: ${state.problem}`
    throw new StepWaiting(`the API of cluster ${name} does not answer yet${why}`, lookMs)
  }
  await hub.imports.endJoin(name, edge, signal)
  const { kubernetesVersion = 'an unknown version', nodes = 0 } = state
  return `cluster ${name} is Ready: Kubernetes ${kubernetesVersion}, ${nodes} nodes`
}

/** Removes the agent from the cluster, which stays as it is. */
export async function removeAgent({ edge, hub, signal }: HubContext): Promise<string> {
  const name = clusterNameOfEdge(edge)
  const wasThere = await hub.imports.removeAgent(name, edge, signal)
  if (wasThere) return `the agent leaves cluster ${name}`
  return `cluster ${name} has no agent that the hub has made; one that runs as a program is for you to stop`
}

function howToApply({ metadata }: EdgeCluster): string {
  const { name = '', namespace = '' } = metadata
  return `run "skerry edge-cluster join-manifest ${name} --namespace ${namespace} | kubectl --context <cluster> apply -f -"`
}
