/** scheduling-world: nodes, pods and claims for a scheduling decision in tests. */
import type {
  CSIDriver,
  CSINode,
  CSIStorageCapacity,
  Node,
  PersistentVolume,
  PersistentVolumeClaim,
  Pod,
  PodDisruptionBudget,
  StorageClass,
} from '@skerry/api'
import { ClusterState } from '../cluster-state.ts'
import { defaultProfile } from '../default-plugins.ts'
import { planPlacement } from '../plan-placement.ts'
import { planPreemption, type Preemption } from '../plan-preemption.ts'
import { podInfoOf } from '../framework/pod-info.ts'
import type { PlacementContext } from '../framework/plugin.ts'
import type { Profile } from '../profile.ts'

export interface NodeDraft {
  labels?: Record<string, string>
  cpu?: string
  memory?: string
  pods?: string
  allocatable?: Record<string, string>
  spec?: Node['spec']
}

export function node(name: string, draft: NodeDraft = {}): Node {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...draft.labels } },
    spec: draft.spec ?? {},
    status: {
      allocatable: {
        cpu: draft.cpu ?? '4',
        memory: draft.memory ?? '8Gi',
        pods: draft.pods ?? '110',
        ...draft.allocatable,
      },
    },
  }
}

let made = 0

export function pod(
  spec: Partial<NonNullable<Pod['spec']>>,
  labels: Record<string, string> = {},
): Pod {
  const name = `pod-${++made}`
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'shop', uid: name, labels },
    spec: {
      containers: [{ name: 'app', image: 'app:v1' }],
      schedulerName: 'default-scheduler',
      ...spec,
    },
  }
}

export function asking(requests: Record<string, string>): Partial<NonNullable<Pod['spec']>> {
  return { containers: [{ name: 'app', image: 'app:v1', resources: { requests } }] }
}

export interface World {
  nodes: Node[]
  running?: Pod[]
  nominated?: { pod: Pod; nodeName: string }[]
  claims?: PersistentVolumeClaim[]
  volumes?: PersistentVolume[]
  classes?: StorageClass[]
  csiNodes?: CSINode[]
  csiDrivers?: CSIDriver[]
  storageCapacities?: CSIStorageCapacity[]
  budgets?: PodDisruptionBudget[]
}

function contextOf(candidate: Pod, world: World): PlacementContext {
  const state = new ClusterState()
  for (const each of world.nodes) state.setNode(each)
  for (const each of world.running ?? []) state.setPod(each)
  for (const each of world.nominated ?? []) state.nominate(podInfoOf(each.pod), each.nodeName)
  const named = <T extends { metadata: { name?: string } }>(
    list: readonly T[] | undefined,
    name: string,
  ): T | undefined => list?.find((each) => each.metadata.name === name)
  const snapshot = {
    nodes: state.nodes(),
    node: (name: string) => state.node(name),
    nominated: (name: string) => state.nominatedOn(name),
    namespace: () => undefined,
    claim: (_: string, name: string) => named(world.claims, name),
    volume: (name: string) => named(world.volumes, name),
    storageClass: (name: string) => named(world.classes, name),
    csiNode: (name: string) => named(world.csiNodes, name),
    volumes: () => world.volumes ?? [],
    csiDriver: (name: string) => named(world.csiDrivers, name),
    storageCapacities: () => world.storageCapacities ?? [],
    resourceClaim: () => undefined,
    deviceClass: () => undefined,
  }
  return { pod: podInfoOf(candidate), snapshot }
}

/** Returns the pod's node, or the whole message if there is none. */
export function place(candidate: Pod, world: World, profile: Profile = defaultProfile): string {
  const context = contextOf(candidate, world)
  const placement = planPlacement(context, profile, { random: () => 0 })
  if (placement.isPlaced) return placement.nodeName
  if (placement.refusals.size === 0) return placement.message
  const preemption = preempt(candidate, world, profile)
  return preemption?.isPossible === false
    ? `${placement.message} ${preemption.message}`
    : placement.message
}

/** Returns undefined if the pod fits without preemption. */
export function preempt(
  candidate: Pod,
  world: World,
  profile: Profile = defaultProfile,
): Preemption | undefined {
  const context = contextOf(candidate, world)
  const placement = planPlacement(context, profile, { random: () => 0 })
  if (placement.isPlaced) return undefined
  return planPreemption({
    context,
    profile,
    refusals: placement.refusals,
    budgets: world.budgets ?? [],
    nominatedNode: candidate.status?.nominatedNodeName ?? '',
    random: () => 0,
  })
}
