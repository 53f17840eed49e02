import { StatusError, isStatusError, type AnyObject, type KubeObject } from '@skerry/api'
import type { ClusterClient, DiscoveredResource, TypedResource } from '@skerry/client'
import {
  bindingName,
  clusterOverridePolicyResource,
  clusterPropagationPolicyResource,
  overridePolicyResource,
  propagationPolicyResource,
  resourceBindingResource,
  workResource,
  type OverridePolicy,
  type ResourceBinding,
  type Work,
} from '@skerry/karmada-kinds'
import { clusterResource, type Cluster } from '@skerry/fleet-kinds'
import {
  localInterpreterOf,
  type InterpreterClock,
  type ResourceInterpreter,
} from '@skerry/interpreter'
import { bindingScopeOf } from '../propagation/binding-scope.ts'
import { planSites, type SitesPlan } from '../propagation/plan-sites.ts'
import { explainObject } from './explain-object.ts'
import type { Explanation } from './explanation.ts'

export interface ExplainedRef {
  /** The kind in any of kubectl's forms: `deployment`, `deployments`, `deploy`, `deployments.apps`. */
  readonly kind: string
  readonly name: string
  /** The namespace, for kinds that have one. */
  readonly namespace: string
}

export interface ExplainDeps {
  readonly hub: ClusterClient
  readonly clock: InterpreterClock
}

/**
 * Reads the hub's objects and explains where an object goes. It does not ask webhook interpreters, so for a
 * kind that needs one a cluster may seem to lack the newest version. Rejects with StatusError NotFound if the
 * kind or object does not exist.
 */
export async function explain(
  { hub, clock }: ExplainDeps,
  ref: ExplainedRef,
  signal: AbortSignal,
): Promise<Explanation> {
  const { kind, ...resource } = await resourceOf(hub, ref.kind, signal)
  const key = { name: ref.name, ...(resource.isNamespaced ? { namespace: ref.namespace } : {}) }
  const objects: TypedResource<AnyObject> = resource
  const found = await hub.resource(objects).get(key, signal)
  const apiVersion = resource.group ? `${resource.group}/${resource.version}` : resource.version
  const template = { ...found, apiVersion, kind }
  const [own, everywhere, ownOverrides, overrides, clusters, binding, interpreter] =
    await Promise.all([
      listOwn(hub, propagationPolicyResource, template, signal),
      listAll(hub, clusterPropagationPolicyResource, signal),
      listOwn(hub, overridePolicyResource, template, signal),
      listAll(hub, clusterOverridePolicyResource, signal),
      listAll(hub, clusterResource, signal),
      bindingOf(hub, template, signal),
      localInterpreterOf({ hub, clock }, signal),
    ])
  const overridePolicies = [...overrides, ...ownOverrides]
  const isGrouped = binding?.spec.workloadAffinityGroups !== undefined
  const others = isGrouped ? await listOwn(hub, resourceBindingResource, template, signal) : []
  const works = binding ? await worksOf(hub, { template, binding }, signal) : []
  const plan = binding
    ? await planOf({ template, binding, works, clusters, overridePolicies, interpreter }, signal)
    : { sites: [], failures: [] }
  const policies = [...own, ...everywhere]
  return explainObject({ template, policies, overridePolicies, binding, others, clusters, plan })
}

/** The one that its group prefers, of several. */
async function resourceOf(
  hub: ClusterClient,
  text: string,
  signal: AbortSignal,
): Promise<DiscoveredResource> {
  const [word = '', ...groupParts] = text.toLowerCase().split('.')
  const group = groupParts.join('.')
  const { resources } = await hub.discover(signal)
  const named = resources.filter(
    (each) =>
      [each.kind.toLowerCase(), each.resource, ...each.shortNames].includes(word) &&
      (group === '' || each.group === group),
  )
  const resource = named.find(({ isPreferred }) => isPreferred) ?? named[0]
  if (resource) return resource
  throw new StatusError('NotFound', `the hub has no kind "${text}"`)
}

async function listAll<T extends KubeObject>(
  hub: ClusterClient,
  resource: TypedResource<T>,
  signal: AbortSignal,
): Promise<readonly T[]> {
  return (await hub.resource(resource).list({}, signal)).items
}

/** Lists the object's namespace; returns an empty list for an object without one. */
async function listOwn<T extends KubeObject>(
  hub: ClusterClient,
  resource: TypedResource<T>,
  { metadata: { namespace } }: AnyObject,
  signal: AbortSignal,
): Promise<readonly T[]> {
  return namespace ? (await hub.resource(resource).list({ namespace }, signal)).items : []
}

async function bindingOf(
  hub: ClusterClient,
  { kind, metadata }: AnyObject,
  signal: AbortSignal,
): Promise<ResourceBinding | undefined> {
  const { namespace, name = '' } = metadata
  const { resource } = bindingScopeOf(namespace)
  const key = { name: bindingName(kind, name), ...(namespace ? { namespace } : {}) }
  try {
    return await hub.resource(resource).get(key, signal)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

interface Bound {
  readonly template: AnyObject
  readonly binding: ResourceBinding
}

async function worksOf(
  hub: ClusterClient,
  { template, binding }: Bound,
  signal: AbortSignal,
): Promise<readonly Work[]> {
  const { idLabel } = bindingScopeOf(template.metadata.namespace)
  const id = binding.metadata.labels?.[idLabel]
  if (!id) return []
  const labelSelector = `${idLabel}=${id}`
  return (await hub.resource(workResource).list({ labelSelector }, signal)).items
}

interface PlanInput extends Bound {
  readonly works: readonly Work[]
  readonly clusters: readonly Cluster[]
  readonly overridePolicies: readonly OverridePolicy[]
  readonly interpreter: ResourceInterpreter
}

function planOf(
  { template, binding, works, clusters, overridePolicies, interpreter }: PlanInput,
  signal: AbortSignal,
): Promise<SitesPlan> {
  return planSites(
    {
      scope: bindingScopeOf(template.metadata.namespace),
      binding,
      template,
      policies: overridePolicies,
      interpreter,
      clusterOf: (name) => clusters.find(({ metadata }) => metadata.name === name),
      workOf: ({ metadata: { namespace, name } }) =>
        works.find(({ metadata }) => metadata.namespace === namespace && metadata.name === name),
    },
    signal,
  )
}
