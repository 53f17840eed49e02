import { isStatusError } from '@skerry/api'
import { messageOf } from '@skerry/base'
import type { ClusterClient, DiscoveredResource, Discovery } from '@skerry/client'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import type { DeletionReport } from './namespace-conditions.ts'

/** Returns one version of each resource, because versions are views of the same objects, in the order of deletion. */
function deletableResources(
  discovery: Discovery,
  rankOf: (resource: DiscoveredResource) => number,
): DiscoveredResource[] {
  const chosen = new Map<string, DiscoveredResource>()
  for (const resource of discovery.resources) {
    const isDeletable = ['list', 'delete'].every((verb) => resource.verbs.includes(verb))
    if (!resource.isNamespaced || !isDeletable) continue
    const name = qualifiedName(resource)
    if (resource.isPreferred || !chosen.has(name)) chosen.set(name, resource)
  }
  return [...chosen.values()].toSorted((a, b) => rankOf(a) - rankOf(b))
}

export type EarlyResource = Pick<DiscoveredResource, 'group' | 'resource'>

/** A namespace to empty, and the resources whose objects end before all others but pods, in this order. */
interface Emptying {
  readonly namespace: string
  readonly first: readonly EarlyResource[]
}

/**
 * Makes one pass: asks for the deletion of everything in the namespace and reports what remains. While pods remain,
 * and then while an object of `first` does, nothing else is deleted, because it may need that to end properly.
 */
export async function deleteContent(
  cluster: ClusterClient,
  { namespace, first }: Emptying,
  signal: AbortSignal,
): Promise<DeletionReport> {
  const early = [{ group: '', resource: 'pods' }, ...first].map(qualifiedName)
  const rankOf = (resource: DiscoveredResource): number => {
    const at = early.indexOf(qualifiedName(resource))
    return at === -1 ? early.length : at
  }
  const discovery = await cluster.discover(signal)
  const failures: string[] = []
  const remaining = new Map<string, number>()
  const finalizers = new Map<string, number>()
  for (const resource of deletableResources(discovery, rankOf)) {
    try {
      const left = await deleteAllOf(cluster, { resource, namespace }, signal)
      if (left.length > 0) remaining.set(qualifiedName(resource), left.length)
      for (const name of left.flat()) finalizers.set(name, (finalizers.get(name) ?? 0) + 1)
      if (rankOf(resource) < early.length && left.length > 0) break
    } catch (error) {
      if (signal.aborted) throw error
      failures.push(messageOf(error))
      // It is not known whether any are left that need the rest.
      if (rankOf(resource) > 0 && rankOf(resource) < early.length) break
    }
  }
  const undiscovered = discovery.stale.map(({ group, version }) => `${group}/${version}`)
  return { undiscovered, failures, remaining, finalizers }
}

interface Part {
  resource: DiscoveredResource
  namespace: string
}

/** Returns the finalizers of each remaining object. */
async function deleteAllOf(
  cluster: ClusterClient,
  { resource, namespace }: Part,
  signal: AbortSignal,
): Promise<(readonly string[])[]> {
  const client = cluster.metadata(resource)
  const found = await listed(cluster, { resource, namespace }, signal)
  if (found.length === 0) return []
  if (resource.verbs.includes('deletecollection')) {
    await client.deleteCollection({ namespace, propagationPolicy: 'Background' }, signal)
  } else {
    for (const { name } of found) {
      await ignoreNotFound(
        client.delete({ namespace, name, propagationPolicy: 'Background' }, signal),
      )
    }
  }
  return (await listed(cluster, { resource, namespace }, signal)).map((each) => each.finalizers)
}

/** Keeps only names and finalizers, because a namespace may hold many large objects. */
async function listed(
  cluster: ClusterClient,
  { resource, namespace }: Part,
  signal: AbortSignal,
): Promise<{ name: string; finalizers: readonly string[] }[]> {
  const found: { name: string; finalizers: readonly string[] }[] = []
  try {
    for await (const page of cluster.metadata(resource).pages({ namespace }, signal)) {
      for (const { metadata } of page.items) {
        found.push({ name: metadata.name ?? '', finalizers: metadata.finalizers ?? [] })
      }
    }
  } catch (error) {
    // The resource was removed since discovery, and its objects with it.
    if (!isStatusError(error, 'NotFound')) throw error
  }
  return found
}

function qualifiedName({ group, resource }: EarlyResource): string {
  return `${resource}.${group}`
}
