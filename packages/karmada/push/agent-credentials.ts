import { StatusError } from '@skerry/api'
import type { AdmissionPlugin, Objects } from '@skerry/apiserver'
import { clusterOfAgent } from '../cluster/agent-identity.ts'
import { clusterResource, type Cluster } from '../cluster/cluster.ts'
import { isPushed } from './push-admission.ts'
import { agentWrittenKey } from './push-target.ts'

/**
 * Karmada's agent keeps credentials of its cluster on the hub. They are marked, as the hub sends no secret
 * to a cluster that an agent has written; and an agent changes none that the hub does send.
 */
export function agentCredentials(objects: Objects): AdmissionPlugin {
  return {
    name: 'AgentCredentials',
    handles: ({ operation, resource, user }) =>
      (operation === 'CREATE' || operation === 'UPDATE') &&
      resource.group === '' &&
      resource.resource === 'secrets' &&
      clusterOfAgent(user) !== undefined,
    async admit({ object, user }) {
      if (object === undefined) return
      const { annotations } = object.metadata
      const cluster = clusterOfAgent(user) ?? ''
      object.metadata.annotations = { ...annotations, [agentWrittenKey]: cluster }
    },
    async validate({ object, namespace, name }) {
      const key = { namespace, name: object?.metadata.name ?? name }
      // The registry keeps only what was decoded as this kind.
      const clusters = objects.list(clusterResource) as unknown as readonly Cluster[]
      const pushed = clusters.find((each) => isPushed(each) && isSent(key, each))
      if (pushed === undefined) return
      throw new StatusError(
        'Forbidden',
        `secrets ${JSON.stringify(key.name)} is forbidden: cluster "${pushed.metadata.name}" is in push mode, and no agent keeps its credentials`,
      )
    },
  }
}

function isSent(
  { namespace, name }: { readonly namespace: string; readonly name: string },
  { spec: { secretRef, impersonatorSecretRef } }: Cluster,
): boolean {
  return [secretRef, impersonatorSecretRef].some(
    (each) => each?.namespace === namespace && each.name === name,
  )
}
