import { ExpectedError, exitCodes } from '@skerry/base'
import { ifThere, resources } from '@skerry/client'
import {
  edgeJobAsks,
  edgeJobClusterName,
  edgeJobClusterResource,
  edgeJobResource,
  pausePatch,
  stepLogName,
  type EdgeJob,
  type EdgeJobCluster,
} from '@skerry/provisioning'
import { openChosenHub } from '../../admin/admin-cluster.ts'
import { programsListKey } from '../../admin/programs-list.ts'
import { tableLines } from '../text/print-table.ts'
import {
  commandClock,
  namespaceWords,
  soon,
  toldPlainly,
  type EdgeOptions,
} from '../edge-clusters/edge-cluster-access.ts'
import { plainLines } from '../edge-clusters/edge-cluster-text.ts'
import { openJob, readJob, type JobAccess } from './edge-job-access.ts'
import { describeJob, jobLines } from './edge-job-text.ts'

export async function printEdgeJobs(
  options: Omit<EdgeOptions, 'name'> & { allNamespaces: boolean | undefined },
): Promise<void> {
  await toldPlainly('list edge jobs', async () => {
    const { cluster: hub } = await openChosenHub(options)
    const hasNamespaces = options.allNamespaces === true
    const request = hasNamespaces ? {} : { namespace: options.namespace }
    const { items } = await hub.resource(edgeJobResource).list(request, soon())
    if (options.output === 'json') return console.log(JSON.stringify(items))
    if (items.length === 0) {
      const where = hasNamespaces ? '' : ` in namespace ${options.namespace}`
      return console.log(`There is no edge job${where}`)
    }
    const lines = jobLines(items, { nowMs: commandClock.now(), hasNamespaces })
    for (const line of lines) console.log(line)
  })
}

export async function printEdgeJob(options: EdgeOptions): Promise<void> {
  await toldPlainly(`show edge job ${options.name}`, async () => {
    const access = await openJob(options)
    const job = await readJob(access)
    const clusters = await clustersOf(access, job)
    if (options.output === 'json') return console.log(JSON.stringify({ job, clusters }))
    for (const line of describeJob(job, clusters)) console.log(line)
  })
}

async function clustersOf({ hub, key }: JobAccess, job: EdgeJob): Promise<EdgeJobCluster[]> {
  const { namespace } = key
  const { items } = await hub.resource(edgeJobClusterResource).list({ namespace }, soon())
  return items
    .filter(({ metadata: { ownerReferences = [] } }) =>
      ownerReferences.some(({ uid }) => uid === job.metadata.uid),
    )
    .toSorted((a, b) => (a.spec.edgeCluster < b.spec.edgeCluster ? -1 : 1))
}

/** Prints everything that the steps of a job printed on one machine. */
export async function printJobLog(options: EdgeOptions & { machine: string }): Promise<void> {
  const { name, namespace, machine: text } = options
  await toldPlainly(`read the log of ${text}`, async () => {
    const access = await openJob(options)
    const { cluster, machine } = oneMachine(await clustersOf(access, await readJob(access)), text)
    const own = edgeJobClusterName(name, cluster)
    const logName = stepLogName(own, { name: 'log', machine, state: 'Done' })
    const configMaps = access.hub.resource(resources.configMaps)
    const kept = await ifThere(configMaps.get({ namespace, name: logName }, soon()))
    const log = kept?.data?.['log']
    if (log === undefined) {
      const why = 'no step has ended there yet'
      throw new ExpectedError(`Cannot read the log of ${text}: ${why}`, exitCodes.failure)
    }
    if (options.output === 'json') console.log(JSON.stringify({ cluster, machine, log }))
    else console.log(plainLines(log).trimEnd())
  })
}

/** Returns the machine that `10.0.0.12` or `branch-7/10.0.0.12` names. Throws an ExpectedError unless it is one. */
function oneMachine(
  clusters: readonly EdgeJobCluster[],
  text: string,
): { cluster: string; machine: string } {
  const all = clusters.flatMap(({ spec, status }) =>
    (status?.machines ?? []).map(({ address }) => ({
      cluster: spec.edgeCluster,
      machine: address,
    })),
  )
  const found = all.filter(
    ({ cluster, machine }) => machine === text || `${cluster}/${machine}` === text,
  )
  const [first, second] = found
  if (first !== undefined && second === undefined) return first
  const why =
    first === undefined
      ? 'the job has no such machine; see "skerry edge-job get"'
      : `several clusters have it: write ${found.map((each) => `${each.cluster}/${each.machine}`).join(' or ')}`
  throw new ExpectedError(`Cannot choose machine ${text}: ${why}`, exitCodes.usage)
}

export type JobAsk = keyof typeof edgeJobAsks

const told: Readonly<Record<JobAsk, string>> = {
  retry: 'begins failed and cancelled machines again',
  cancel: 'finishes the machines that are being changed and begins no other',
  confirm: 'goes on with the machines that waited for a confirmation',
}

/** Writes an annotation, which the hub removes once it has acted. One that is there already is kept. */
export async function askJob(
  options: EdgeOptions & { targets: readonly string[] },
  ask: JobAsk,
): Promise<void> {
  const { name, targets } = options
  await toldPlainly(`${ask} edge job ${name}`, async () => {
    const access = await openJob(options)
    const job = await readJob(access)
    const clusters = (await clustersOf(access, job)).map(({ spec }) => spec.edgeCluster)
    for (const target of targets) {
      const cluster = target.split('/')[0] ?? ''
      if (target === '*' || clusters.includes(cluster)) continue
      const why = `the job has no cluster ${cluster}; it has ${clusters.join(', ')}`
      throw new ExpectedError(`Cannot ${ask} ${target}: ${why}`, exitCodes.usage)
    }
    const annotation = edgeJobAsks[ask]
    const known = job.metadata.annotations?.[annotation]?.split(',') ?? []
    const wanted = targets.length === 0 ? ['*'] : targets
    const value = [...new Set([...known, ...wanted])].join(',')
    await change(access, { metadata: { annotations: { [annotation]: value } } })
    report(options, told[ask], { [annotation]: value })
  })
}

/** Lets the hub begin no further machine, or lets it continue. */
export async function pauseJob(options: EdgeOptions, paused: boolean): Promise<void> {
  await toldPlainly(`${paused ? 'pause' : 'resume'} edge job ${options.name}`, async () => {
    const access = await openJob(options)
    await readJob(access)
    await change(access, pausePatch(paused))
    const text = paused
      ? 'finishes the machines that are being changed and begins no other'
      : 'continues'
    report(options, text, { paused })
  })
}

async function change({ client, key }: JobAccess, patch: object): Promise<void> {
  await client.patch({ ...key, type: 'merge', patch }, soon())
}

function report({ name, namespace, output }: EdgeOptions, text: string, facts: object): void {
  if (output === 'json') return console.log(JSON.stringify({ name, namespace, ...facts }))
  console.log(`The hub ${text}; see "skerry edge-job watch ${name}${namespaceWords(namespace)}"`)
}

/** Prints the programs that the hub holds for machines. */
export async function printProgramVersions(options: Omit<EdgeOptions, 'name'>): Promise<void> {
  await toldPlainly('list programs for machines', async () => {
    const { cluster: hub } = await openChosenHub(options)
    const found = await ifThere(hub.resource(resources.configMaps).get(programsListKey, soon()))
    const text = found?.data?.['programs'] ?? '[]'
    if (options.output === 'json') return console.log(text)
    const list: unknown = JSON.parse(text)
    const rows = (Array.isArray(list) ? list : []).flatMap((each: unknown) => {
      const isProgram = typeof each === 'object' && each !== null
      if (!isProgram || !('architecture' in each) || !('version' in each)) return []
      return [[String(each.version), String(each.architecture)]]
    })
    if (rows.length === 0) {
      return console.log(
        'The hub holds no program for machines: give it one with --machine-program',
      )
    }
    for (const line of tableLines([['VERSION', 'ARCHITECTURE'], ...rows], [])) console.log(line)
  })
}
