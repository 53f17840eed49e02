import { isStatusError, type KubeObject } from '@skerry/api'
import {
  ifThere,
  type ClusterClient,
  type DiscoveredResource,
  type PartialObject,
} from '@skerry/client'
import { sharerPatch, sharersOf } from '@skerry/cluster-agent'
import { karmadaKeys } from '@skerry/karmada-kinds'
import { virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { inOneVersion } from './namespace-content.ts'

/**
 * Removes a virtual cluster's objects outside of namespaces from the edge cluster, by their own labels and
 * annotations: deletes its own objects and takes it off the sharers of shared ones, whose last sharer deletes
 * them. This also finds objects of Works that the control plane no longer shows. Resolves false while one is
 * still there.
 */
export async function releaseObjects(
  clusterName: string,
  local: ClusterClient,
  signal: AbortSignal,
): Promise<boolean> {
  const { resources, stale } = await local.discover(signal)
  const [unread] = stale
  if (unread) {
    const group = `${unread.group}/${unread.version}`
    throw new Error(`Cannot remove objects of "${clusterName}": server of ${group} does not answer`)
  }
  let isGone = true
  for (const resource of inOneVersion(resources).filter(hasOwn)) {
    for (const object of await sentObjects(local, resource, signal)) {
      const isOwn = object.metadata.labels?.[virtualNamespaceLabels.cluster] === clusterName
      const isShared = sharersOf({ ...object }).has(clusterName)
      if (!isOwn && !isShared) continue
      const client = local.metadata(resource)
      const place = { name: object.metadata.name ?? '' }
      const patch = sharerPatch(clusterName, null)
      const left = isShared
        ? await ifUnchanged(client.patch({ ...place, type: 'merge', patch }, signal))
        : object
      if (left === undefined || isWanted(left)) continue
      isGone = false
      if (left.metadata.deletionTimestamp === undefined) {
        await ifUnchanged(client.delete({ ...place, preconditions: versionOf(left) }, signal))
      }
    }
  }
  return isGone
}

/** Namespaces are emptied first, and deleted separately. */
function hasOwn({ group, resource, isNamespaced, verbs }: DiscoveredResource): boolean {
  const isChanged = ['list', 'patch', 'delete'].every((verb) => verbs.includes(verb))
  const isNamespace = group === '' && resource === 'namespaces'
  return !isNamespaced && isChanged && !isNamespace
}

async function sentObjects(
  local: ClusterClient,
  resource: DiscoveredResource,
  signal: AbortSignal,
): Promise<readonly PartialObject[]> {
  const labelSelector = `${karmadaKeys.managed}=true`
  const found = await ifThere(local.metadata(resource).list({ labelSelector }, signal))
  return found?.items ?? []
}

function isWanted(object: KubeObject): boolean {
  return sharersOf({ ...object }).size > 0
}

/** The preconditions keep an object that another cluster has come to share in the meantime from being deleted. */
function versionOf({ metadata: { uid, resourceVersion } }: KubeObject) {
  return { ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) }
}

/** Resolves undefined if the object is gone, or has changed: then it is checked again. */
async function ifUnchanged<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await ifThere(asked)
  } catch (error) {
    if (isStatusError(error, 'Conflict')) return undefined
    throw error
  }
}
