import { isStatusError, type KubeObject, type OwnerReference, type Pod } from '@skerry/api'
import { resources, type KnownResource } from '@skerry/client'
import { controllerOf, type ControllerContext } from '@skerry/controller-runtime'

export interface ExpectedPods {
  /** The number of replicas that the pods' controllers want in total. */
  readonly count: number
  /** Pods without a controller, for which no number is known. */
  readonly unmanaged: readonly string[]
}

/** Rejects if the scale of a pod's controller cannot be determined. */
export async function expectedPods(
  pods: readonly Pod[],
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ExpectedPods> {
  const wanted = new Map<string, number>()
  const asked = new Set<string>()
  const unmanaged: string[] = []
  for (const pod of pods) {
    const owner = controllerOf(pod)
    if (owner === undefined) {
      unmanaged.push(pod.metadata.name ?? '')
      continue
    }
    if (asked.has(owner.uid)) continue
    asked.add(owner.uid)
    const namespace = pod.metadata.namespace ?? ''
    const scale = await scaleOf({ owner, namespace }, context, signal)
    if (scale === undefined) {
      throw new Error(`found no controllers for pod "${pod.metadata.name}"`)
    }
    wanted.set(scale.uid, scale.replicas)
  }
  return { count: [...wanted.values()].reduce((sum, count) => sum + count, 0), unmanaged }
}

interface Scale {
  uid: string
  replicas: number
}

interface Owned {
  owner: OwnerReference
  namespace: string
}

type Finder = (owned: Owned, context: ControllerContext) => Scale | undefined

/** Kinds whose scale the informers know. */
const finders: Readonly<Record<string, Finder>> = Object.freeze({
  'apps/ReplicaSet': ofReplicaSet,
  'apps/StatefulSet': replicasIn(resources.statefulSets),
  'apps/Deployment': replicasIn(resources.deployments),
  '/ReplicationController': replicasIn(resources.replicationControllers),
})

interface Replicated extends KubeObject {
  spec?: { replicas?: number }
}

function replicasIn(resource: KnownResource<Replicated>): Finder {
  return ({ owner, namespace }, context) => {
    const found = context.informer(resource).get({ namespace, name: owner.name })
    if (found?.metadata.uid !== owner.uid) return undefined
    return { uid: owner.uid, replicas: found.spec?.replicas ?? 1 }
  }
}

/** The deployment of a replica set, if there is one, defines the scale. */
function ofReplicaSet(owned: Owned, context: ControllerContext): Scale | undefined {
  const { owner, namespace } = owned
  const replicaSet = context.informer(resources.replicaSets).get({ namespace, name: owner.name })
  if (replicaSet?.metadata.uid !== owner.uid) return undefined
  const parent = controllerOf(replicaSet)
  if (parent?.kind === 'Deployment') {
    return replicasIn(resources.deployments)({ owner: parent, namespace }, context)
  }
  return { uid: owner.uid, replicas: replicaSet.spec?.replicas ?? 1 }
}

async function scaleOf(
  owned: Owned,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Scale | undefined> {
  const { apiVersion, kind } = owned.owner
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : ''
  const finder = finders[`${group}/${kind}`]
  const known = finder?.(owned, context)
  return known ?? (await askForScale({ ...owned, group }, context, signal))
}

/** Handles any other kind with the scale subresource, e.g. custom ones. */
async function askForScale(
  { owner, namespace, group }: Owned & { group: string },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Scale | undefined> {
  if (`${group}/${owner.kind}` in finders) return undefined
  const { resources: served } = await context.cluster.discover(signal)
  const resource = served.find(
    (each) => each.group === group && each.kind === owner.kind && each.isPreferred,
  )
  if (resource === undefined) return undefined
  if (!resource.subresources.includes('scale')) {
    const name = group === '' ? resource.resource : `${resource.resource}.${group}`
    throw new Error(`${name} does not implement the scale subresource`)
  }
  try {
    const scale = await context.cluster
      .resource(resource)
      .getSubresource({ namespace, name: owner.name, subresource: 'scale' }, signal)
    if (scale.metadata.uid !== owner.uid) return undefined
    const { spec } = scale
    const replicas =
      typeof spec === 'object' && spec !== null ? Reflect.get(spec, 'replicas') : undefined
    return { uid: owner.uid, replicas: typeof replicas === 'number' ? replicas : 0 }
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}
