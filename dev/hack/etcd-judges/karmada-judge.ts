import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '@skerry/base'
import { runToEnd, until } from '@skerry/testing'
import { buildUpstream } from '../upstream/build-upstream.ts'
import { buildKarmada } from '../upstream/karmada-build.ts'
import { startKarmada } from '../upstream/karmada-run.ts'
import { clusterObject, deployment, policyFor, readyStatus } from './karmada-objects.ts'
import type { JudgeTarget, Verdict } from './verdict.ts'

const parts = [
  'karmada-aggregated-apiserver',
  'karmada-controller-manager',
  'karmada-scheduler',
  'karmada-webhook',
]
const upstream = ['kube-apiserver', 'kube-controller-manager', 'kubectl']
const waitMsMax = 180_000

/**
 * Starts Karmada's control plane on the server and plays the life of a deployment on two clusters that have no agent. The
 * fleet's objects, those of the aggregated API server, and the state of all controllers are in the server.
 */
export async function judgeKarmada({ server }: JudgeTarget): Promise<Verdict> {
  const upstreamBin = await buildUpstream(upstream)
  const bin = await buildKarmada(parts)
  const directory = await mkdtemp(join(tmpdir(), 'skerry-etcd-karmada-'))
  const places = { upstreamBin, bin, directory, bindAddress: '127.0.0.1' }
  try {
    await using karmada = await startKarmada({ ...places, etcdProgram: server })
    const kubectl = [join(upstreamBin, 'kubectl'), '--kubeconfig', karmada.kubeconfigPath]
    return await playChecks(fleetOf(kubectl))
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Each check goes on where the one before it ended, so the first failure is the last check. */
async function playChecks(fleet: Fleet): Promise<Verdict> {
  let passed = 0
  for (const [title, check] of Object.entries(checks)) {
    try {
      await check(fleet)
      passed += 1
      console.log(`pass ${title}`)
    } catch (error) {
      return { passed, failed: [`${title}: ${messageOf(error)}`] }
    }
  }
  return { passed, failed: [] }
}

/** The fields of objects and lists that are looked at. */
interface Found {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string }
  readonly spec?: { readonly clusters?: { readonly name: string }[] }
  readonly items?: Found[]
}

interface Fleet {
  readonly run: (args: readonly string[], input?: object) => Promise<string>
  /** Returns the object or the list, or undefined if there is no such object. */
  readonly find: (...args: string[]) => Promise<Found | undefined>
}

function fleetOf(kubectl: readonly string[]): Fleet {
  const run: Fleet['run'] = async (args, input) => {
    const options = input === undefined ? {} : { input: JSON.stringify(input) }
    const { exitCode, stdout, stderr } = await runToEnd([...kubectl, ...args], options)
    if (exitCode !== 0) throw new Error(`kubectl ${args.join(' ')}: ${stderr.trim()}`)
    return stdout
  }
  const find: Fleet['find'] = async (...args) => {
    const text = await run(['get', ...args, '--ignore-not-found', '-o=json'])
    // kubectl has printed an object of the API, or nothing.
    return text === '' ? undefined : (JSON.parse(text) as Found)
  }
  return { run, find }
}

const clusters = ['east', 'west'] as const
const binding = ['resourcebinding', 'web-deployment']

const checks: Readonly<Record<string, (fleet: Fleet) => Promise<void>>> = Object.freeze({
  'the aggregated API server keeps clusters': async ({ run, find }: Fleet) => {
    await run(['apply', '-f', '-'], listOf(clusters.map(clusterObject)))
    for (const name of clusters) await untilSo(() => find('cluster', name))
  },
  'each cluster gets a namespace for its works': async ({ find }: Fleet) => {
    for (const name of clusters) await untilSo(() => find('namespace', namespaceOf(name)))
  },
  'a deployment is placed on both clusters': async (fleet: Fleet) => {
    await fleet.run(['apply', '-f', '-'], listOf([policyFor(clusters), deployment]))
    await untilPlaced(fleet, clusters)
  },
  'each of them has a work with it': async (fleet: Fleet) => {
    for (const name of clusters) {
      await untilSo(async () => (await worksOf(fleet, name)).some(isOfDeployment))
    }
  },
  'a change of its policy takes it from one cluster': async (fleet: Fleet) => {
    await fleet.run(['apply', '-f', '-'], policyFor(['east']))
    await untilPlaced(fleet, ['east'])
    await untilSo(async () => !(await worksLeft(fleet, 'west')).some(isOfDeployment))
  },
  'it goes with its binding and its works': async (fleet: Fleet) => {
    await fleet.run(['delete', 'deployment', 'web', '--wait=false'])
    await untilSo(async () => !(await worksLeft(fleet, 'east')).some(isOfDeployment))
    await untilSo(async () => (await fleet.find(...binding)) === undefined)
  },
  'a cluster goes with its namespace': async (fleet: Fleet) => {
    await fleet.run(['delete', 'cluster', 'west', '--wait=false'])
    await untilSo(async () => {
      await worksLeft(fleet, 'west')
      return (await fleet.find('cluster', 'west')) === undefined
    })
    const left = await fleet.find('namespace', namespaceOf('west'))
    if (left !== undefined) throw new Error('its namespace is still there')
  },
})

function listOf(items: readonly object[]): object {
  return { apiVersion: 'v1', kind: 'List', items }
}

function namespaceOf(cluster: string): string {
  return `karmada-es-${cluster}`
}

function untilSo(ask: () => Promise<unknown>): Promise<unknown> {
  return until(ask, AbortSignal.timeout(waitMsMax))
}

/** Reports clusters as ready while it waits: without reports, Karmada takes them for lost after 40 s. */
async function untilPlaced(fleet: Fleet, names: readonly string[]): Promise<void> {
  await untilSo(async () => {
    for (const name of clusters) {
      const status = JSON.stringify(readyStatus())
      const patch = ['patch', 'cluster', name, '--subresource=status', '--type=merge']
      await fleet.run([...patch, `--patch=${status}`])
    }
    const placed = (await fleet.find(...binding))?.spec?.clusters?.map(({ name }) => name) ?? []
    return placed.toSorted().join() === names.join()
  })
}

async function worksOf({ find }: Fleet, cluster: string): Promise<Found[]> {
  return (await find('works', `--namespace=${namespaceOf(cluster)}`))?.items ?? []
}

/** A work is named after its object, with a hash. */
function isOfDeployment({ metadata }: Found): boolean {
  return metadata.name.startsWith('web-')
}

/** Does what a cluster's agent would, and lets go of works that end. Returns the works that were there. */
async function worksLeft(fleet: Fleet, cluster: string): Promise<Found[]> {
  const works = await worksOf(fleet, cluster)
  for (const { metadata } of works.filter((work) => work.metadata.deletionTimestamp)) {
    const place = [metadata.name, `--namespace=${namespaceOf(cluster)}`]
    const patch = '--patch={"metadata":{"finalizers":null}}'
    await fleet.run(['patch', 'work', ...place, '--type=merge', patch])
  }
  return works
}
