import { setTimeout as sleep } from 'node:timers/promises'
import { runAll } from '@skerry/base'
import { resources, type ClusterClient } from '@skerry/client'
import type { Lease, Pod } from '@skerry/api'
import { runningStatus } from './measure/example-pod.ts'

/** Nodes that exist only in the API: each watches its pods and reports them as running. */
export interface SimulatedNodes {
  renewLeases(): Promise<void>
  reportStatus(): Promise<void>
  /** Resolves when exactly that many pods run and none is ending. */
  untilRunning(count: number, msMax: number): Promise<void>
  /** Resolves when the signal has ended all watches. */
  readonly done: Promise<void>
}

const lookMs = 100

export async function startNodes(
  cluster: ClusterClient,
  count: number,
  signal: AbortSignal,
): Promise<SimulatedNodes> {
  const names = Array.from({ length: count }, (_, index) => `node-${index}`)
  const leases = new Map<string, Lease>()
  for (const name of names) leases.set(name, await join(cluster, name, signal))
  const pods: Pods = { running: new Set(), ending: new Set(), addresses: 0 }
  const done = runAll(
    signal,
    names.map((name) => (scope: AbortSignal) => keepPods(cluster, { name, pods }, scope)),
  ).catch((error: unknown) => {
    if (!signal.aborted) throw error
  })
  return {
    renewLeases: () => each(names, (name) => renewLease(cluster, { name, leases }, signal)),
    reportStatus: () => each(names, (name) => reportStatus(cluster, name, signal)),
    async untilRunning(wanted, msMax) {
      const endMs = performance.now() + msMax
      while (pods.running.size !== wanted || pods.ending.size > 0) {
        if (performance.now() > endMs) {
          throw new Error(`Cannot measure: ${pods.running.size} of ${wanted} pods run`)
        }
        await Promise.race([sleep(lookMs), done])
      }
    },
    done,
  }
}

interface Pods {
  running: Set<string>
  ending: Set<string>
  addresses: number
}

async function each(names: readonly string[], task: (name: string) => Promise<void>) {
  await Promise.all(names.map(task))
}

async function join(cluster: ClusterClient, name: string, signal: AbortSignal): Promise<Lease> {
  const nodes = cluster.resource(resources.nodes)
  await nodes.create(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name, labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux' } },
    },
    signal,
  )
  await reportStatus(cluster, name, signal)
  return cluster.resource(resources.leases).create(leaseOf(name), signal)
}

async function reportStatus(
  cluster: ClusterClient,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const now = seconds()
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'KubeletReady',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  }
  const quantities = { cpu: '8', memory: '32Gi', pods: '110', 'ephemeral-storage': '100Gi' }
  const status = {
    capacity: quantities,
    allocatable: quantities,
    conditions: [condition],
    addresses: [{ type: 'InternalIP', address: '10.0.0.1' }],
  }
  await cluster.raw(
    {
      method: 'PATCH',
      path: `/api/v1/nodes/${name}/status`,
      headers: { 'content-type': 'application/strategic-merge-patch+json' },
      body: Buffer.from(JSON.stringify({ status })),
    },
    signal,
  )
}

function leaseOf(name: string) {
  const renewTime = `${new Date().toISOString().slice(0, -1)}000Z`
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name, namespace: 'kube-node-lease' },
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime },
  }
}

/** Updates the lease that it wrote last without reading it, as a kubelet does. */
async function renewLease(
  cluster: ClusterClient,
  { name, leases }: { name: string; leases: Map<string, Lease> },
  signal: AbortSignal,
): Promise<void> {
  const { metadata } = leases.get(name) ?? leaseOf(name)
  const next = { ...leaseOf(name), metadata }
  leases.set(name, await cluster.resource(resources.leases).update(next, signal))
}

/** Reports on pods like a kubelet: running once bound, gone once deleted. */
async function keepPods(
  cluster: ClusterClient,
  { name, pods }: { name: string; pods: Pods },
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(resources.pods)
  for (;;) {
    const request = { fieldSelector: `spec.nodeName=${name}` }
    for await (const event of client.watch(request, signal)) {
      if (event.type === 'BOOKMARK') continue
      if (event.type === 'DELETED') forget(pods, event.object)
      else await keepPod(cluster, { pod: event.object, pods }, signal)
    }
  }
}

function forget({ running, ending }: Pods, { metadata }: Pod): void {
  running.delete(metadata.name ?? '')
  ending.delete(metadata.name ?? '')
}

async function keepPod(
  cluster: ClusterClient,
  { pod, pods }: { pod: Pod; pods: Pods },
  signal: AbortSignal,
): Promise<void> {
  const client = cluster.resource(resources.pods)
  const { name = '', namespace = '', deletionTimestamp } = pod.metadata
  if (deletionTimestamp !== undefined) {
    if (pods.ending.has(name)) return
    pods.ending.add(name)
    pods.running.delete(name)
    await client.delete({ namespace, name, gracePeriodSeconds: 0 }, signal)
    return
  }
  if (pod.status?.phase === 'Running') {
    pods.running.add(name)
    return
  }
  pods.addresses += 1
  const address = `10.42.${pods.addresses >> 8}.${pods.addresses & 255}`
  const qosClass = pod.status?.qosClass
  const status = { ...runningStatus(address, seconds()), ...(qosClass ? { qosClass } : {}) }
  await client.updateStatus({ ...pod, status }, signal)
}

function seconds(): string {
  return new Date().toISOString().replace(/\.\d+Z$/, 'Z')
}
