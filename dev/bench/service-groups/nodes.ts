import { mkdir } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type { RawClient } from '../../processes/raw-client.ts'
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

const crowd = 5_000
const waitMsMax = 120_000
const settleMs = 5_000

interface MeasuredNodes extends Record<string, number> {
  /** Seconds from the last change of a node until both units were right again. */
  readonly settled: number
  /** The agent's requests for all nodes. */
  readonly requests: number
}

const unitsPath = '/apis/site.superedge.io/v1alpha2/nodeunits'

/** Measures how a crowd of nodes moves from one NodeUnit to another at once. */
export async function measureNodes(place: Place): Promise<MeasuredNodes> {
  await mkdir(place.directory, { recursive: true })
  await using hub = await startServer(place, 'hub')
  await using site = await startServer(place, 'site', bareSite)
  const duties = ['--edge-apps', 'superedge']
  await using _agent = await startAgent(place, { hub: hub.port, site: site.data, duties })
  const names = Array.from({ length: crowd }, (_, index) => `crowd-${index}`)
  for (const unit of ['first', 'second']) await make(site.client, unitsPath, unitOf(unit))
  using followed = await followCrowd(site.client)
  await inCrowd(names, (name) => {
    const metadata = { name, labels: { crowd: 'first' } }
    return make(site.client, '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata })
  })
  await followed.untilIn('first')
  await sleep(settleMs)
  const before = await requestsOf(site.client)
  await inCrowd(names, (name) =>
    expectSent(site.client, 'PATCH', `/api/v1/nodes/${name}`, {
      metadata: { labels: { crowd: 'second' } },
    }),
  )
  const startMs = performance.now()
  await followed.untilIn('second')
  const settled = (performance.now() - startMs) / 1_000
  await sleep(settleMs)
  return { settled, requests: (await requestsOf(site.client)) - before - crowd }
}

function unitOf(name: string): object {
  return {
    apiVersion: 'site.superedge.io/v1alpha2',
    kind: 'NodeUnit',
    metadata: { name },
    spec: { selector: { matchLabels: { crowd: name } }, setNode: { labels: { of: name } } },
  }
}

interface Crowd extends Disposable {
  /** Resolves when all nodes have the label of the unit, and both units report where they are. */
  untilIn(unit: string): Promise<void>
}

async function followCrowd(site: RawClient): Promise<Crowd> {
  const labelled = new Map<string, string>()
  const rates = new Map<string, string>()
  let wanted = ''
  let done = Promise.withResolvers<void>()
  const look = (): void => {
    const isReported = [...rates].every(
      ([unit, rate]) => rate === (unit === wanted ? `0/${crowd}` : '0/0'),
    )
    if (isReported && count(labelled, wanted) === crowd) done.resolve()
  }
  await using stack = new AsyncDisposableStack()
  stack.use(
    await watchObjects(site, '/api/v1/nodes', ({ metadata: { name = '', labels = {} } }) => {
      labelled.set(name, labels['of'] ?? '')
      look()
    }),
  )
  stack.use(
    await watchObjects(site, unitsPath, (object) => {
      // A NodeUnit, as this path has it.
      const { status } = object as { status?: { readyRate?: string } }
      rates.set(object.metadata.name ?? '', status?.readyRate ?? '')
      look()
    }),
  )
  const owned = stack.move()
  return {
    async untilIn(unit) {
      wanted = unit
      done = Promise.withResolvers<void>()
      look()
      const timer = setTimeout(() => {
        const rest = `${count(labelled, unit)} of ${crowd} nodes have the label of ${unit}`
        done.reject(new Error(`Cannot measure: ${rest}; units: ${JSON.stringify([...rates])}`))
      }, waitMsMax)
      try {
        await done.promise
      } finally {
        clearTimeout(timer)
      }
    },
    [Symbol.dispose]: () => void owned.disposeAsync(),
  }
}

function count(labelled: ReadonlyMap<string, string>, unit: string): number {
  let found = 0
  for (const each of labelled.values()) if (each === unit) found += 1
  return found
}
