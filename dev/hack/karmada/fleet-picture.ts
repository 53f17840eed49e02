import { isJsonObject, type AnyObject, type KubeObject } from '@skerry/api'
import { anyObjects, resources, type ClusterClient, type TypedResource } from '@skerry/client'
import {
  clusterResourceBindingResource,
  resourceBindingResource,
  workResource,
} from '@skerry/karmada-kinds'
import { executionNamespace } from '@skerry/fleet-kinds'
import { storyNamespace, storyRole, type FleetWorld } from './fleet-story.ts'

/** A person's view of a fleet, without the parts that differ between runs. */
export type FleetPicture = Readonly<Record<string, unknown>>

export async function takePicture(world: FleetWorld, signal: AbortSignal): Promise<FleetPicture> {
  const { hub, sites } = world
  const shelves: Shelf[] = [
    ...templates.map((resource) => shelf('hub', hub, resource, storyNamespace)),
    shelf('hub', hub, resourceBindingResource, storyNamespace),
    shelf('hub', hub, clusterResourceBindingResource),
    shelf('hub', hub, resources.clusterRoles),
  ]
  for (const [name, site] of Object.entries(sites)) {
    shelves.push(
      shelf(name, hub, workResource, executionNamespace(name)),
      shelf(name, site, resources.clusterRoles),
      ...templates.map((resource) => shelf(name, site, resource, storyNamespace)),
    )
  }
  return pictureOf(shelves, signal)
}

/** The kinds that stories place. */
export const templates = [resources.deployments, resources.configMaps, resources.jobs] as const

/** One place with objects of one kind. */
export interface Shelf {
  /** The name of the place in the picture. */
  readonly where: string
  readonly api: ClusterClient
  readonly resource: TypedResource<AnyObject>
  /** The namespace; an empty string for all. */
  readonly namespace: string
}

export function shelf<T extends KubeObject>(
  where: string,
  api: ClusterClient,
  resource: TypedResource<T>,
  namespace = '',
): Shelf {
  return { where, api, resource: anyObjects(resource), namespace }
}

export async function pictureOf(
  shelves: readonly Shelf[],
  signal: AbortSignal,
): Promise<FleetPicture> {
  const picture: Record<string, unknown> = {}
  for (const { where, api, resource, namespace } of shelves) {
    const request = namespace === '' ? {} : { namespace }
    const { items } = await api.resource(resource).list(request, signal)
    for (const item of items) {
      const name = item.metadata.name ?? ''
      if (isOfStory(item)) picture[`${where} ${resource.resource} ${name}`] = plain(item)
    }
  }
  return picture
}

/**
 * Excludes objects that a control plane puts into each namespace, and Works of namespaces: Karmada sends each
 * namespace everywhere, the hub only where its objects go.
 */
function isOfStory(object: AnyObject): boolean {
  if (object.metadata.name === 'kube-root-ca.crt') return false
  if (object.metadata.namespace === undefined && !object.metadata.name?.startsWith(storyRole)) {
    return false
  }
  const manifest = manifestOf(object)
  return !isJsonObject(manifest) || manifest['kind'] !== 'Namespace'
}

function manifestOf({ spec }: AnyObject): unknown {
  if (!isJsonObject(spec) || !isJsonObject(spec['workload'])) return undefined
  const { manifests } = spec['workload']
  return Array.isArray(manifests) ? manifests[0] : undefined
}

/** Members that differ from run to run, or count writes. */
const passing = new Set([
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'managedFields',
  'selfLink',
  'lastTransitionTime',
  'lastScheduledTime',
  'schedulerObservedGeneration',
  'observedGeneration',
  'resourceTemplateGeneration',
])

/** Keys of labels and annotations whose values are ids, counts, or a scheduler's observations. */
const passingKey =
  /(permanent-id|resourcetemplate\.karmada\.io\/(uid|generation)|depended-by-|controller-uid)/

export function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value)
    .filter(([key]) => !passing.has(key))
    .map(([key, each]) => [key, passingKey.test(key) ? 'any' : plain(parsed(key, each))] as const)
    .filter(([, each]) => !isEmpty(each))
  return Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Normalises values whose order is free: members of a JSON text, and conditions, which come in the order in
 * which they were first met.
 */
function parsed(key: string, value: unknown): unknown {
  if (key === 'conditions' && Array.isArray(value)) {
    const typeOf = (each: unknown): string => (isJsonObject(each) ? String(each['type']) : '')
    return value.toSorted((a, b) => typeOf(a).localeCompare(typeOf(b)))
  }
  const isText = key === 'policy.karmada.io/applied-placement' && typeof value === 'string'
  return isText ? JSON.parse(value) : value
}

function isEmpty(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0
  return value === null || (isJsonObject(value) && Object.keys(value).length === 0)
}

/** Returns one line for each difference. */
export function differences(expected: unknown, found: unknown, path = ''): string[] {
  if (Array.isArray(expected) && Array.isArray(found)) {
    const length = Math.max(expected.length, found.length)
    return Array.from({ length }, (_, at) =>
      differences(expected[at], found[at], `${path}[${at}]`),
    ).flat()
  }
  if (isJsonObject(expected) && isJsonObject(found)) {
    const keys = new Set([...Object.keys(expected), ...Object.keys(found)])
    return [...keys].flatMap((key) =>
      differences(expected[key], found[key], path === '' ? key : `${path}.${key}`),
    )
  }
  if (JSON.stringify(expected) === JSON.stringify(found)) return []
  return [`${path}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`]
}
