import { isStatusError, type AnyObject, type Namespace } from '@skerry/api'
import { resources, type ClusterClient, type TypedResource } from '@skerry/client'
import type { ManifestMapping } from '@skerry/cluster-agent'
import {
  closingLabel,
  virtualNamespaceLabels,
  type VirtualGroup,
  type VirtualIsolation,
} from '@skerry/fleet-kinds'
import { namespaceIsolation } from '../isolation/namespace-isolation.ts'
import { podSecurityLabel, podSecurityLevel } from '../mapping/host-access.ts'
import { expectOwnNamespace, memberNamespace } from '../mapping/member-namespace.ts'
import type { EdgeNames } from '../view/edge-names.ts'

export interface VirtualNamespacesDeps {
  readonly local: ClusterClient
  readonly edge: EdgeNames
}

/** The field owner of what an agent applies in namespaces of virtual clusters. */
export const virtualFieldOwner = 'skerry-agent-virtual'

/** The kinds that can isolate a namespace. Each is applied only if its option is set. */
const isolating: readonly TypedResource<AnyObject>[] = Object.freeze([
  { group: 'networking.k8s.io', version: 'v1', resource: 'networkpolicies', isNamespaced: true },
  { group: '', version: 'v1', resource: 'resourcequotas', isNamespaced: true },
])

/**
 * Manages the namespaces of one virtual cluster in the edge cluster: creates them on demand, and isolates
 * them.
 */
export class VirtualNamespaces {
  readonly #group: VirtualGroup
  readonly #isolation: VirtualIsolation
  readonly #deps: VirtualNamespacesDeps
  /** Names in the edge cluster of those that the mapping has met, and their own. */
  readonly #met = new Map<string, string>()
  readonly #isolated = new Set<string>()

  constructor(group: VirtualGroup, isolation: VirtualIsolation, deps: VirtualNamespacesDeps) {
    this.#group = group
    this.#isolation = isolation
    this.#deps = deps
  }

  /** Wraps the mapping, so that these namespaces learn which ones manifests name. */
  following(mapping: ManifestMapping): ManifestMapping {
    return {
      ...mapping,
      toMember: (manifest) => {
        const { namespace } = manifest.metadata
        const meant = mapping.toMember(manifest)
        if (namespace && meant.metadata.namespace)
          this.#met.set(meant.metadata.namespace, namespace)
        return meant
      },
    }
  }

  /**
   * Prepares for creating or changing an object of the edge cluster. Throws MappingRefusal if that is not
   * allowed.
   */
  async prepare({ metadata }: AnyObject, signal: AbortSignal): Promise<void> {
    const member = metadata.namespace
    const own = member && this.#met.get(member)
    if (own) await this.ensure(own, signal)
  }

  /** Ensures that the namespace exists in the edge, open and isolated. Takes its name in the virtual cluster. */
  async ensure(namespace: string, signal: AbortSignal): Promise<void> {
    const wanted = memberNamespace(this.#group, namespace)
    const { name = '' } = wanted.metadata
    const { edge } = this.#deps
    const owner = edge.ownerOf(name)
    const isKnown = edge.namespacesOf(this.#group.clusterName).includes(name)
    if (!isKnown || owner?.cluster !== this.#group.clusterName) await this.#make(wanted, signal)
    else if (edge.find(name)?.metadata.labels?.[closingLabel]) await this.#open(name, signal)
    if (!this.#isolated.has(name)) await this.#isolate(name, signal)
  }

  /** Isolates every existing namespace by the current options, including those that users created. */
  async isolateAll(signal: AbortSignal): Promise<void> {
    for (const name of this.#deps.edge.namespacesOf(this.#group.clusterName)) {
      if (!this.#isolated.has(name)) await this.#isolate(name, signal)
    }
  }

  /**
   * Calls the listener when there is a namespace to isolate. A namespace that is recreated counts as a new
   * one.
   */
  onNew(listener: () => void): Disposable {
    return this.#deps.edge.onNamespace(({ cluster, member, isGone }) => {
      if (cluster !== this.#group.clusterName) return
      if (isGone) this.#isolated.delete(member)
      else listener()
    })
  }

  async #make(wanted: Namespace, signal: AbortSignal): Promise<void> {
    const { local, edge } = this.#deps
    const namespaces = local.resource(resources.namespaces)
    try {
      edge.recordNamespace(await namespaces.create(wanted, signal))
    } catch (error) {
      if (!isStatusError(error, 'AlreadyExists')) throw error
      const found = await namespaces.get({ name: wanted.metadata.name ?? '' }, signal)
      expectOwnNamespace(found, this.#group.clusterName)
      edge.recordNamespace(found)
    }
  }

  /** Reopens a namespace that was about to be deleted because it was empty. */
  async #open(name: string, signal: AbortSignal): Promise<void> {
    const { local, edge } = this.#deps
    const patch = { metadata: { labels: { [closingLabel]: null } } }
    const request = { name, type: 'merge', patch } as const
    edge.recordNamespace(await local.resource(resources.namespaces).patch(request, signal))
  }

  async #isolate(namespace: string, signal: AbortSignal): Promise<void> {
    const { clusterName } = this.#group
    const wanted = namespaceIsolation({ clusterName, namespace, ...this.#isolation })
    for (const resource of isolating) {
      const object = wanted.find(({ apiVersion }) => apiVersion === apiVersionOf(resource))
      const client = this.#deps.local.resource(resource)
      if (object) {
        const { name = '' } = object.metadata
        const applied = { name, namespace, type: 'apply', patch: object, force: true } as const
        await client.patch({ ...applied, fieldManager: virtualFieldOwner }, signal)
        continue
      }
      const labelSelector = `${virtualNamespaceLabels.cluster}=${clusterName}`
      const { items } = await client.list({ namespace, labelSelector }, signal)
      for (const { metadata } of items) {
        await client.delete({ namespace, name: metadata.name ?? '' }, signal)
      }
    }
    await this.#confine(namespace, signal)
    this.#isolated.add(namespace)
  }

  /**
   * Keeps pods away from their host, including those that users create, unless host access is allowed. A
   * stricter level stays.
   */
  async #confine(name: string, signal: AbortSignal): Promise<void> {
    const namespaces = this.#deps.local.resource(resources.namespaces)
    const { metadata } = await namespaces.get({ name }, signal)
    const level = metadata.labels?.[podSecurityLabel]
    const mayReach = this.#isolation.allowsHostAccess === true
    if (mayReach ? level !== podSecurityLevel : level === podSecurityLevel) return
    if (!mayReach && level === 'restricted') return
    const labels: Record<string, string> = mayReach ? {} : { [podSecurityLabel]: podSecurityLevel }
    const patch = { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }
    const asked = { name, fieldManager: `${virtualFieldOwner}-pods`, force: true }
    const applied = await namespaces.patch({ ...asked, type: 'apply', patch }, signal)
    this.#deps.edge.recordNamespace(applied)
  }
}

function apiVersionOf({ group, version }: TypedResource<AnyObject>): string {
  return group === '' ? version : `${group}/${version}`
}

/** Deletes all namespaces of a virtual cluster with their content. Resolves false while one is still there. */
export async function deleteNamespaces(
  clusterName: string,
  { local }: Pick<VirtualNamespacesDeps, 'local'>,
  signal: AbortSignal,
): Promise<boolean> {
  const namespaces = local.resource(resources.namespaces)
  const labelSelector = `${virtualNamespaceLabels.cluster}=${clusterName}`
  const { items } = await namespaces.list({ labelSelector }, signal)
  for (const { metadata } of items) {
    if (metadata.deletionTimestamp !== undefined) continue
    const { name = '', uid } = metadata
    await namespaces.delete({ name, ...(uid ? { preconditions: { uid } } : {}) }, signal)
  }
  return items.length === 0
}
