import { StatusError, isStatusError, type ConfigMap } from '@skerry/api'
import type { AdmissionPlugin, Attributes, Objects } from '@skerry/apiserver'
import { resources, type ClusterClient } from '@skerry/client'
import {
  clusterOfAgent,
  clusterNamespace,
  clusterResource,
  executionNamespace,
  parentOf,
  virtualOfKey,
} from '@skerry/fleet-kinds'

/** One entry per cluster whose agent may register groups of its nodes as virtual clusters. */
export const virtualParentsKey = Object.freeze({
  namespace: clusterNamespace,
  name: 'virtual-parents',
})

/** The Clusters that an agent may write in addition to its own. */
export interface VirtualChildren {
  /** A Cluster that this agent has registered, and may still. */
  has(parent: string, name: string): boolean
  /** A name that is free, and this agent's to take. */
  mayRegister(parent: string, name: string): boolean
}

export function virtualChildren(objects: Objects): VirtualChildren {
  const isParent = (name: string): boolean => parentsIn(objects).has(name)
  return {
    has(parent, name) {
      const cluster = objects.get(clusterResource, '', name)
      const isChild = cluster !== undefined && parentOf(cluster) === parent
      return isChild && isNameOfChild(parent, name) && isParent(parent)
    },
    mayRegister(parent, name) {
      const isFree = objects.get(clusterResource, '', name) === undefined
      return isFree && isNameOfChild(parent, name) && isParent(parent)
    },
  }
}

function isNameOfChild(parent: string, name: string): boolean {
  return name.startsWith(`${parent}-`)
}

/** The one cluster that a request of an agent is about; empty when it is about none. */
export function clusterAskedFor({ resource, namespace = '', name = '' }: Attributes): string {
  if (resource?.group === clusterResource.group && namespace === '') return name
  if (namespace === clusterNamespace) return name
  const prefix = executionNamespace('')
  return namespace.startsWith(prefix) ? namespace.slice(prefix.length) : ''
}

/**
 * Records on each new Cluster which agent created it, and keeps users from setting that themselves: requests
 * to a cluster, and the right to its Works, go to the named agent.
 */
export const virtualParentPlugin: AdmissionPlugin = {
  name: 'VirtualParent',
  handles: ({ operation, resource }) =>
    (operation === 'CREATE' || operation === 'UPDATE') &&
    resource.group === clusterResource.group &&
    resource.resource === 'clusters',
  async admit({ object, oldObject, user }) {
    if (object === undefined) return
    const agent = clusterOfAgent(user)
    const isOwn = object.metadata.name === agent
    const parent = oldObject === undefined && !isOwn ? agent : oldObject && parentOf(oldObject)
    if (parentOf(object) === parent) return
    const { [virtualOfKey]: _claimed, ...others } = object.metadata.labels ?? {}
    object.metadata.labels = { ...others, ...(parent ? { [virtualOfKey]: parent } : {}) }
  },
}

/** Allows or forbids the agent of this cluster to register virtual clusters from now on. */
export async function allowVirtualClusters(
  hub: Pick<ClusterClient, 'resource'>,
  { cluster, isAllowed }: { cluster: string; isAllowed: boolean },
  signal: AbortSignal,
): Promise<void> {
  const configMaps = hub.resource(resources.configMaps)
  const data = { [cluster]: isAllowed ? 'allowed' : null }
  try {
    await configMaps.patch({ ...virtualParentsKey, type: 'merge', patch: { data } }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
    if (!isAllowed) return
    const fresh: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { ...virtualParentsKey },
      data: { [cluster]: 'allowed' },
    }
    await configMaps.create(fresh, signal)
  }
}

/** Throws StatusError Conflict where this name belongs to another cluster's agent. */
export async function refuseVirtualName(
  hub: Pick<ClusterClient, 'resource'>,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const found = await hub
    .resource(clusterResource)
    .get({ name }, signal)
    .catch((error: unknown) => {
      if (isStatusError(error, 'NotFound')) return undefined
      throw error
    })
  const parent = found && parentOf(found)
  if (parent === undefined) return
  throw new StatusError(
    'Conflict',
    `Cannot register cluster "${name}": it is a virtual cluster of "${parent}"; choose another name`,
  )
}

function parentsIn(objects: Objects): ReadonlySet<string> {
  const { namespace, name } = virtualParentsKey
  const found = objects.get({ group: '', resource: 'configmaps' }, namespace, name)
  const data = found?.['data']
  if (typeof data !== 'object' || data === null) return new Set()
  return new Set(Object.entries(data).flatMap(([key, value]) => (value === 'allowed' ? key : [])))
}
