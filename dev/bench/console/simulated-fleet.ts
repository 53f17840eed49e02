/** Clusters that are only objects of a hub. Pure. */

export function namesOf(count: number): string[] {
  return Array.from({ length: count }, (_, at) => `shop-${String(at).padStart(4, '0')}`)
}

const regions = 20
const zonesEach = 5

export function clusterOf(name: string, at: number): object {
  const region = `region-${at % regions}`
  const zone = `${region}-${at % zonesEach}`
  const labels = { 'example.com/store': name, 'example.com/size': at % 3 === 0 ? 'large' : 'small' }
  return {
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, labels },
    spec: { syncMode: 'Pull', provider: 'own', region, zones: [zone] },
  }
}

/** Returns a status that is another one for each seed. */
export function statusOf(seed: number): object {
  const nodes = 3 + (seed % 5)
  return {
    kubernetesVersion: `v1.36.${seed % 4}`,
    nodeSummary: { totalNum: nodes, readyNum: nodes },
    resourceSummary: {
      allocatable: { cpu: '16', memory: '64Gi', pods: '330' },
      allocated: {
        cpu: `${1_000 + (seed % 15_000)}m`,
        memory: `${1 + (seed % 60)}Gi`,
        pods: String(20 + (seed % 300)),
      },
    },
  }
}
