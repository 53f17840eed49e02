import type { AnyObject } from '@skerry/api'
import type { ResourceBinding, Work } from '@skerry/karmada-kinds'
import { setTimeout as sleep } from 'node:timers/promises'
import { percentile } from '../measure/api-load.ts'
import { openRawClient, type RawClient } from '../../processes/raw-client.ts'
import type { FleetSite } from './control-plane.ts'
import { expectSent, watchObjects } from './watched-objects.ts'

const deployments = 5
const msMax = 300_000
/** The interval of looks, in milliseconds: the figures are times of seconds. */
const lookMs = 10
const namespace = '/namespaces/default'

/**
 * Measures the time from a policy to Applied everywhere, and from a status in a cluster to the fleet's
 * binding.
 */
export async function measurePropagation(
  client: RawClient,
  sites: readonly FleetSite[],
): Promise<Record<string, number>> {
  const applied: number[] = []
  const all: number[] = []
  const status: number[] = []
  for (let index = 0; index < deployments; index += 1) {
    const name = `web-${index}`
    const times = await placeEverywhere(client, { name, sites })
    applied.push(...times)
    all.push(Math.max(...times))
    status.push(...(await reportEverywhere(client, { name, sites })))
  }
  return {
    'applied.p50': percentile(applied, 50),
    'applied.p99': percentile(applied, 99),
    'applied.all': percentile(all, 50),
    'status.p50': percentile(status, 50),
    'status.p99': percentile(status, 99),
  }
}

interface Asked {
  readonly name: string
  readonly sites: readonly FleetSite[]
}

async function placeEverywhere(client: RawClient, { name, sites }: Asked): Promise<number[]> {
  await expectSent(client, 'POST', `/apis/apps/v1${namespace}/deployments`, deployment(name, 2))
  const doneMs = new Map<string, number>()
  using _watch = await watchObjects(client, '/apis/work.karmada.io/v1alpha1/works', (object) => {
    // A watch at the path of Works brings Works alone, each validated by the hub.
    const work = object as unknown as Work
    if (work.spec.workload?.manifests?.[0]?.metadata.name !== name) return
    const isApplied = work.status?.conditions?.some(
      ({ type, status }) => type === 'Applied' && status === 'True',
    )
    const at = work.metadata.namespace ?? ''
    if (isApplied === true && !doneMs.has(at)) doneMs.set(at, performance.now())
  })
  const startMs = performance.now()
  const policies = `/apis/policy.karmada.io/v1alpha1${namespace}/propagationpolicies`
  await expectSent(client, 'POST', policies, policy(name, sites))
  await until(() => doneMs.size === sites.length, `${name} to be applied`)
  return [...doneMs.values()].map((ms) => ms - startMs)
}

async function reportEverywhere(client: RawClient, { name, sites }: Asked): Promise<number[]> {
  const startMs = new Map<string, number>()
  const tookMs = new Map<string, number>()
  const path = `/apis/work.karmada.io/v1alpha2${namespace}/resourcebindings`
  using _watch = await watchObjects(client, path, (object) => {
    // A watch at the path of ResourceBindings brings these alone, each validated by the hub.
    const binding = object as unknown as ResourceBinding
    if (binding.spec.resource.name !== name) return
    for (const { clusterName, status } of binding.status?.aggregatedStatus ?? []) {
      const since = startMs.get(clusterName)
      if (since === undefined || status?.['readyReplicas'] !== 2) continue
      if (!tookMs.has(clusterName)) tookMs.set(clusterName, performance.now() - since)
    }
  })
  const counts = { replicas: 2, updatedReplicas: 2, readyReplicas: 2, availableReplicas: 2 }
  for (const site of sites) {
    const edge = await openRawClient(site.kubeconfig)
    startMs.set(site.name, performance.now())
    const status = { ...counts, observedGeneration: 1 }
    const own = `/apis/apps/v1${namespace}/deployments/${name}/status`
    await expectSent(edge, 'PATCH', own, { status })
    edge.close()
  }
  await until(() => tookMs.size === sites.length, `the status of ${name}`)
  return [...tookMs.values()]
}

async function until(isDone: () => boolean, what: string): Promise<void> {
  const endMs = performance.now() + msMax
  while (!isDone()) {
    if (performance.now() > endMs) throw new Error(`Cannot measure: timed out waiting for ${what}`)
    await sleep(lookMs)
  }
}

/** The image of the Deployments before anybody changes it. */
export const firstImage = 'registry.example.com/web:1'

/** A Deployment of a web server. */
export function deployment(name: string, replicas: number): AnyObject {
  const labels = { app: name }
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers: [{ name: 'web', image: firstImage }] },
      },
    },
  }
}

function policy(name: string, sites: readonly FleetSite[]): AnyObject {
  return {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name, namespace: 'default' },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name }],
      placement: { clusterAffinity: { clusterNames: sites.map((site) => site.name) } },
    },
  }
}
