import { isStatusError } from '@skerry/api'
import type { ClusterClient, DiscoveredResource, PartialObject } from '@skerry/client'
import { isolationName, virtualNamespaceLabels } from '@skerry/fleet-kinds'
import { virtualClusterBounds } from '../limits-table.ts'

/** An object that a person or a controller has put into a namespace. */
export interface NamespaceContent {
  readonly resource: DiscoveredResource
  readonly object: PartialObject
}

export interface ContentQuestion {
  /** The namespace's name in the edge cluster. */
  readonly namespace: string
  /** The kind that is looked at first: what was there the last time mostly still is. */
  readonly first?: DiscoveredResource | undefined
}

const { pageObjectsMax } = virtualClusterBounds.namespaceContent

/**
 * Finds an object in the namespace that neither Kubernetes nor the agent makes in every namespace, or returns
 * undefined. Events and leases do not count: they are nobody's data. Requests the metadata of one or two
 * pages of each kind. Rejects if a kind cannot be read, because unseen objects may exist.
 */
export async function findContent(
  local: ClusterClient,
  { namespace, first }: ContentQuestion,
  signal: AbortSignal,
): Promise<NamespaceContent | undefined> {
  const { resources, stale } = await local.discover(signal)
  const [unread] = stale
  if (unread) {
    const group = `${unread.group}/${unread.version}`
    throw new Error(`Cannot look into namespace "${namespace}": server of ${group} does not answer`)
  }
  const kinds = inOneVersion(resources).filter(isKept)
  for (const resource of [...(first ? [first] : []), ...kinds]) {
    const object = await findObject(local, { namespace, resource }, signal)
    if (object) return { resource, object }
  }
  return undefined
}

/** Returns each resource once, in the version that its group prefers among those that serve it. */
export function inOneVersion(resources: readonly DiscoveredResource[]): DiscoveredResource[] {
  const once = new Map<string, DiscoveredResource>()
  for (const each of resources) {
    const key = `${each.group}/${each.resource}`
    if (!once.has(key)) once.set(key, each)
  }
  return [...once.values()]
}

const uncounted: ReadonlySet<string> = new Set([
  '/events',
  'events.k8s.io/events',
  'coordination.k8s.io/leases',
])

/**
 * Reports whether objects of the resource are stored. A resource without the delete verb is a view of another
 * one.
 */
function isKept({ group, resource, isNamespaced, verbs }: DiscoveredResource): boolean {
  const isStored = verbs.includes('list') && verbs.includes('delete')
  return isNamespaced && isStored && !uncounted.has(`${group}/${resource}`)
}

async function findObject(
  local: ClusterClient,
  { namespace, resource }: { namespace: string; resource: DiscoveredResource },
  signal: AbortSignal,
): Promise<PartialObject | undefined> {
  try {
    for await (const page of local
      .metadata(resource)
      .pages({ namespace, pageObjectsMax }, signal)) {
      const found = page.items.find((object) => !isMadeByItself(object, resource))
      if (found) return found
    }
    return undefined
  } catch (error) {
    // The kind itself has gone.
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

type Judge = (metadata: PartialObject['metadata']) => boolean

const isIsolation: Judge = ({ name, labels }) =>
  name === isolationName && labels?.[virtualNamespaceLabels.cluster] !== undefined

const madeByThemselves: Readonly<Record<string, Judge>> = Object.freeze({
  '/configmaps': ({ name }) => name === 'kube-root-ca.crt',
  '/resourcequotas': isIsolation,
  // The tokens of clusters before 1.24.
  '/secrets': ({ annotations }) =>
    annotations?.['kubernetes.io/service-account.name'] === 'default',
  '/serviceaccounts': ({ name }) => name === 'default',
  'networking.k8s.io/networkpolicies': isIsolation,
})

function isMadeByItself(
  { metadata }: PartialObject,
  { group, resource }: DiscoveredResource,
): boolean {
  return madeByThemselves[`${group}/${resource}`]?.(metadata) === true
}
