import { claimName, forgetCluster } from '../ensure/cluster-name.ts'
import {
  awaitAgent,
  awaitImported,
  makeJoinManifest,
  removeAgent,
} from '../ensure/import-cluster.ts'
import type { Step } from '../contract/step.ts'

/** Every step by which a cluster that exists comes to the hub, in order. */
export const importSteps: readonly Step[] = [
  {
    name: 'ClaimName',
    does: 'take the name of the cluster on the hub',
    needs: [],
    place: 'hub',
    act: claimName,
  },
  {
    name: 'MakeJoinManifest',
    does: 'make a Secret with the manifest of the agent and its token',
    needs: ['ClaimName'],
    place: 'hub',
    act: makeJoinManifest,
  },
  {
    name: 'AgentConnected',
    does: 'wait until somebody has applied the manifest and the agent is connected',
    needs: ['MakeJoinManifest'],
    place: 'hub',
    act: awaitAgent,
  },
  {
    name: 'ClusterReady',
    does: 'wait until the API of the cluster answers, and void the token',
    needs: ['AgentConnected'],
    place: 'hub',
    act: awaitImported,
  },
]

/** Every step by which an imported cluster leaves the hub, in order. */
export const importRemoval: readonly Step[] = [
  {
    name: 'RemoveAgent',
    does: "remove the agent's objects from the cluster",
    needs: [],
    place: 'hub',
    maySkip: true,
    act: removeAgent,
  },
  {
    name: 'ForgetCluster',
    does: 'remove the cluster and the rights of its agent from the hub',
    needs: ['RemoveAgent'],
    place: 'hub',
    act: forgetCluster,
  },
]
