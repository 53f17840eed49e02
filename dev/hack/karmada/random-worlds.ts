import { stringify } from 'yaml'
import type { WrittenBinding, WrittenCluster } from '../../differential/placement/world.ts'
import { createRandom, type Random } from '../../differential/seeded-choices.ts'

const clustersMax = 9
const bindingsCount = 15
const regions = ['north', 'south', 'west'] as const
const tiers = ['edge', 'core'] as const

/**
 * Returns the worlds of a seed, as files of dev/differential/placement/worlds; they are the same for each
 * seed.
 */
export function randomWorlds(seed: number, count: number): { name: string; text: string }[] {
  const random = createRandom(seed)
  return Array.from({ length: count }, (_, at) => {
    const names = Array.from({ length: 2 + random.below(clustersMax - 1) }, (__, n) => `c${n}`)
    const clusters = Object.fromEntries(names.map((name) => [name, randomCluster(random)]))
    const bindings = Object.fromEntries(
      Array.from({ length: bindingsCount }, (__, n) => [`b${n}`, randomBinding(random, names)]),
    )
    const title = `# Random: seed ${seed}, world ${at}.\n`
    const text =
      title + stringify({ clusters, bindings }, { lineWidth: 0, aliasDuplicateObjects: false })
    return { name: `random-${seed}-${String(at).padStart(2, '0')}`, text }
  })
}

function randomCluster(random: Random): WrittenCluster {
  const isModelled = random.below(4) === 0
  return {
    ...(random.below(5) === 0 ? {} : { region: random.pick(regions) }),
    labels: { tier: random.pick(tiers) },
    ...(random.below(6) === 0 ? { taints: [{ key: 'storm', effect: 'NoSchedule' }] } : {}),
    ...(random.below(12) === 0 ? { silent: true } : {}),
    ...(isModelled
      ? { resourceModels: models, nodes: { 0: random.below(4), 1: random.below(3) } }
      : {}),
    allocatable: {
      pods: String(5 + random.below(40)),
      cpu: String(1 + random.below(24)),
      memory: `${4 + random.below(60)}Gi`,
    },
    allocated: { pods: String(random.below(6)), cpu: `${random.below(3000)}m` },
  }
}

const models: NonNullable<WrittenCluster['resourceModels']> = [
  { grade: 0, ranges: [{ name: 'cpu', min: '1', max: '4' }] },
  { grade: 1, ranges: [{ name: 'cpu', min: '4', max: '16' }] },
]

function randomBinding(random: Random, clusters: readonly string[]): WrittenBinding {
  const isObject = random.below(8) === 0
  const replicas = random.below(24)
  const was = random.below(2) === 0 ? [] : clusters.filter(() => random.below(3) === 0)
  const request = random.pick(requests)
  return {
    ...(isObject ? {} : { replicas, replicaRequirements: { resourceRequest: request } }),
    uid: `uid-${random.below(1_000_000)}`,
    ...(was.length === 0
      ? {}
      : {
          clusters: was.map((name) => (isObject ? { name } : { name, replicas: random.below(6) })),
        }),
    ...(random.below(6) === 0 ? asked : {}),
    placement: {
      ...randomAffinity(random, clusters),
      ...randomConstraints(random),
      ...(random.below(4) === 0 ? { clusterTolerations: [{ operator: 'Exists' }] } : {}),
      ...randomStrategy(random, clusters),
    },
  }
}

const requests: readonly Record<string, string>[] = [
  {},
  { cpu: '500m' },
  { cpu: '1', memory: '2Gi' },
]

const asked = Object.freeze({
  rescheduleTriggeredAt: '2025-06-01T00:00:00Z',
  lastScheduledTime: '2025-05-01T00:00:00Z',
})

type WrittenPlacement = NonNullable<WrittenBinding['placement']>

function randomAffinity(random: Random, clusters: readonly string[]): WrittenPlacement {
  const byTier = { labelSelector: { matchLabels: { tier: random.pick(tiers) } } }
  const byNames = { clusterNames: clusters.filter(() => random.below(2) === 0) }
  const byRegion = {
    fieldSelector: {
      matchExpressions: [{ key: 'region', operator: 'NotIn', values: [random.pick(regions)] }],
    },
  }
  const one = { affinityName: 'one', ...byTier }
  const over = { ...one, overflowAffinities: [{ affinityName: 'over', ...byRegion }] }
  const choices: readonly WrittenPlacement[] = [
    {},
    {},
    { clusterAffinity: byTier },
    { clusterAffinity: byNames },
    { clusterAffinity: byRegion },
    { clusterAffinities: [one, { affinityName: 'two', ...byNames }] },
    { clusterAffinities: [over, { affinityName: 'two' }] },
  ]
  return random.pick(choices)
}

function randomConstraints(random: Random): WrittenPlacement {
  const [minGroups, most] = [1 + random.below(3), random.below(3)]
  const byCluster = { spreadByField: 'cluster' as const, minGroups, maxGroups: minGroups + most }
  const fewer = 1 + random.below(2)
  const byRegion = { spreadByField: 'region' as const, minGroups: fewer, maxGroups: fewer + 1 }
  const choices: readonly WrittenPlacement[] = [
    {},
    {},
    { spreadConstraints: [byCluster] },
    { spreadConstraints: [byRegion, byCluster] },
  ]
  return random.pick(choices)
}

function randomStrategy(random: Random, clusters: readonly string[]): WrittenPlacement {
  const divided = { replicaSchedulingType: 'Divided' as const }
  const weighted = { ...divided, replicaDivisionPreference: 'Weighted' as const }
  const staticWeightList = clusters
    .slice(0, 1 + random.below(4))
    .map((name) => ({ targetCluster: { clusterNames: [name] }, weight: 1 + random.below(5) }))
  const choices: readonly WrittenPlacement[] = [
    {},
    { replicaScheduling: { replicaSchedulingType: 'Duplicated' } },
    { replicaScheduling: weighted },
    { replicaScheduling: { ...weighted, weightPreference: { staticWeightList } } },
    {
      replicaScheduling: { ...weighted, weightPreference: { dynamicWeight: 'AvailableReplicas' } },
    },
    {
      replicaScheduling: { ...weighted, weightPreference: { dynamicWeight: 'AvailableReplicas' } },
    },
    { replicaScheduling: { ...divided, replicaDivisionPreference: 'Aggregated' } },
    { replicaScheduling: { ...divided, replicaDivisionPreference: 'Aggregated' } },
  ]
  return random.pick(choices)
}
