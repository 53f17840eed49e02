import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runToEnd } from '@skerry/testing'
import { messageOf } from '@skerry/base'
import { until } from '@skerry/testing'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada } from '../upstream/karmada-build.ts'
import { startKarmada } from '../upstream/karmada-run.ts'
import type { JudgeTarget, Verdict } from './verdict.ts'

const parts = [
  'karmada-aggregated-apiserver',
  'karmada-controller-manager',
  'karmada-scheduler',
  'karmada-webhook',
]
const upstream = ['etcd', 'kube-apiserver', 'kube-controller-manager', 'kubectl']
const clusters = ['east', 'west']

/**
 * Starts Karmada's control plane on the server and lets it place a deployment on two clusters that have no agent: the
 * fleet's objects, the aggregated API's own, and the controllers' all live there.
 */
export async function judgeKarmada({ server }: JudgeTarget): Promise<Verdict> {
  const upstreamBin = await buildUpstream(upstream)
  const bin = await buildKarmada(parts)
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-karmada-'))
  const places = { upstreamBin, bin, directory, bindAddress: '127.0.0.1' }
  try {
    await using karmada = await startKarmada({ ...places, etcdProgram: server })
    const kubectl = [join(upstreamBin, 'kubectl'), '--kubeconfig', karmada.kubeconfigPath]
    const ask = async (args: readonly string[], input?: object): Promise<string> => {
      const options = input === undefined ? {} : { input: JSON.stringify(input) }
      const { exitCode, stdout, stderr } = await runToEnd([...kubectl, ...args], options)
      if (exitCode !== 0) throw new Error(stderr)
      return stdout
    }
    await ask(['apply', '-f', '-'], { apiVersion: 'v1', kind: 'List', items: fleet() })
    for (const name of clusters) {
      await ask(['patch', 'cluster', name, '--subresource=status', '--type=merge', `-p=${ready()}`])
    }
    const bound = await until(async () => {
      const got = await ask(['get', 'resourcebinding', 'web-deployment', '-o=json']).catch(
        () => '{}',
      )
      const { spec } = JSON.parse(got) as { spec?: { clusters?: { name: string }[] } }
      return spec?.clusters?.length === clusters.length ? spec.clusters : undefined
    })
    for (const { name } of bound) {
      await until(
        async () => (await ask(['get', 'work', `-n=karmada-es-${name}`, '-o=name'])) !== '',
      )
    }
    return { passed: bound.length, failed: [] }
  } catch (error) {
    return { passed: 0, failed: [messageOf(error)] }
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

function fleet(): object[] {
  const labels = { app: 'web' }
  const container = { name: 'web', image: 'web:1' }
  const workload = {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      replicas: 2,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [container] } },
    },
  }
  const policy = {
    apiVersion: 'policy.karmada.io/v1alpha1',
    kind: 'PropagationPolicy',
    metadata: { name: 'web', namespace: 'default' },
    spec: {
      resourceSelectors: [{ apiVersion: 'apps/v1', kind: 'Deployment', name: 'web' }],
      placement: { clusterAffinity: { clusterNames: clusters } },
    },
  }
  const members = clusters.map((name) => ({
    apiVersion: 'cluster.karmada.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name },
    spec: { syncMode: 'Pull' },
  }))
  return [...members, workload, policy]
}

function ready(): string {
  const condition = {
    type: 'Ready',
    status: 'True',
    reason: 'ClusterReady',
    message: 'judged',
    lastTransitionTime: new Date().toISOString(),
  }
  const enabled = {
    groupVersion: 'apps/v1',
    resources: [{ kind: 'Deployment', name: 'deployments' }],
  }
  return JSON.stringify({ status: { conditions: [condition], apiEnablements: [enabled] } })
}
