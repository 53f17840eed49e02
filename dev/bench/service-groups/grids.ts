import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { definitionOf, edgeSystems } from '@skerry/edge-apps'
import { runProgram, type RunningProgram } from '../../hack/upstream/run-program.ts'
import { buildSuperedge } from '../../hack/upstream/superedge-build.ts'
import type { RawClient } from '../../processes/raw-client.ts'
import { memoryOf, processorMs } from '../../processes/role-process.ts'
import { expectSent, watchObjects } from '../fleet/watched-objects.ts'
import {
  bareSite,
  inCrowd,
  make,
  requestsOf,
  startAgent,
  startServer,
  type Place,
} from '../measure/agent-fleet.ts'

const units = 200
const grids = 10
const waitMsMax = 120_000
/** A controller has read the cluster, and rests, by then. */
const settleMs = 5_000

interface MeasuredGrids extends Record<string, number> {
  /** Seconds until every unit had a child of each grid. */
  readonly made: number
  /** Seconds from the change of the first template to the last child. */
  readonly updated: number
  /** The controller's requests for that change. */
  readonly requests: number
  /** Seconds of the controller on processors for that change. */
  readonly processor: number
  /** The controller's resident memory afterwards, in MB. */
  readonly memory: number
}

/** Measures our agent: DeploymentGrids over many units, made and then all changed. */
export async function measureGrids({ program, directory }: Place): Promise<MeasuredGrids> {
  const place = { program, directory: join(directory, 'ours') }
  await mkdir(place.directory, { recursive: true })
  await using hub = await startServer(place, 'hub')
  await using site = await startServer(place, 'site', bareSite)
  await makeUnits(site.client)
  const duties = ['--edge-apps', 'superedge']
  await using agent = await startAgent(place, { hub: hub.port, site: site.data, duties })
  return await measure(site.client, agent)
}

/** Measures SuperEdge's own controller at the same, on our API server and with our definitions of its kinds. */
export async function measureSuperedge({ program, directory }: Place): Promise<MeasuredGrids> {
  const place = { program, directory: join(directory, 'superedge') }
  await mkdir(place.directory, { recursive: true })
  const definitions = (edgeSystems['superedge']?.kinds ?? []).map(definitionOf)
  const path = await buildSuperedge(definitions)
  await using site = await startServer(place, 'site', bareSite)
  const definitionsPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  for (const definition of definitions) await make(site.client, definitionsPath, definition)
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'edge-system' } }
  await make(site.client, '/api/v1/namespaces', namespace)
  await makeUnits(site.client)
  await using controller = await runProgram({
    path,
    args: [`--kubeconfig=${join(site.data, 'admin.kubeconfig')}`, '--leader-elect=false'],
    logPath: join(place.directory, 'superedge.log'),
  })
  return await measure(site.client, controller)
}

async function makeUnits(site: RawClient): Promise<void> {
  const names = Array.from({ length: units }, (_, index) => String(index))
  await inCrowd(names, (unit) => {
    const metadata = { name: `node-${unit}`, labels: { hall: unit } }
    return make(site, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata })
  })
}

async function measure(site: RawClient, { pid }: RunningProgram): Promise<MeasuredGrids> {
  // The kind is there when the first grid can be made.
  await make(site, gridsPath, gridOf(0))
  using children = await watchImages(site)
  const made = await seconds(async () => {
    for (let index = 1; index < grids; index += 1) await make(site, gridsPath, gridOf(index))
    await children.all('web:1')
  })
  await sleep(settleMs)
  const before = { requests: await requestsOf(site), ms: await processorMs(pid) }
  const updated = await seconds(async () => {
    for (let index = 0; index < grids; index += 1) {
      const patch = { spec: { template: templateOf('web:2') } }
      await expectSent(site, 'PATCH', `${gridsPath}/grid-${index}`, patch)
    }
    await children.all('web:2')
  })
  await sleep(settleMs)
  return {
    made,
    updated,
    requests: (await requestsOf(site)) - before.requests - grids,
    processor: ((await processorMs(pid)) - before.ms) / 1_000,
    memory: (await memoryOf(pid)).resident,
  }
}

const gridsPath = '/apis/superedge.io/v1/namespaces/default/deploymentgrids'

function templateOf(image: string): object {
  return {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: [{ name: 'c', image }] },
    },
  }
}

function gridOf(index: number): object {
  return {
    apiVersion: 'superedge.io/v1',
    kind: 'DeploymentGrid',
    metadata: { name: `grid-${index}`, namespace: 'default' },
    spec: { gridUniqKey: 'hall', template: templateOf('web:1') },
  }
}

async function seconds(work: () => Promise<void>): Promise<number> {
  const startMs = performance.now()
  await work()
  return (performance.now() - startMs) / 1_000
}

interface Images extends Disposable {
  /** Resolves when every unit has a child of each grid with the image. */
  all(image: string): Promise<void>
}

/** Follows the children by a watch: lists of them would take time from the server. */
async function watchImages(site: RawClient): Promise<Images> {
  const images = new Map<string, string>()
  let isAll = (): boolean => false
  let done = Promise.withResolvers<void>()
  const path = '/apis/apps/v1/namespaces/default/deployments'
  const watching = await watchObjects(site, path, (object) => {
    // A Deployment, as this path has it.
    const { spec } = object as { spec?: { template?: { spec?: PodImages } } }
    images.set(object.metadata.name ?? '', spec?.template?.spec?.containers?.[0]?.image ?? '')
    if (isAll()) done.resolve()
  })
  return {
    async all(image) {
      const wanted = units * grids
      const count = (): number => [...images.values()].filter((each) => each === image).length
      done = Promise.withResolvers<void>()
      isAll = () => images.get(`grid-${grids - 1}-${units - 1}`) === image && count() === wanted
      if (isAll()) return
      const timer = setTimeout(() => {
        done.reject(new Error(`Cannot measure: ${count()} of ${wanted} children have ${image}`))
      }, waitMsMax)
      try {
        await done.promise
      } finally {
        clearTimeout(timer)
      }
    },
    [Symbol.dispose]: () => watching[Symbol.dispose](),
  }
}

interface PodImages {
  readonly containers?: readonly { readonly image?: string }[]
}
