import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ExpectedError, exitCodes } from '@skerry/base'
import { version } from '../../roles/runtime/version.ts'
import { bundleProgram } from '../build/bundle.ts'
import { freePort } from '../processes/free-port.ts'
import { firstImage } from './fleet/propagation.ts'
import {
  changeImage,
  placeConfigMaps,
  placeDeployment,
  readyClusters,
  readyReplicas,
} from './fleet-scale/fleet-objects.ts'
import { startMeasuredHub, writeIdentities, type MeasuredHub } from './fleet-scale/measured-hub.ts'
import { startSiteFleet, type SiteFleet } from './fleet-scale/site-fleet.ts'
import { waitsDuring, type UserWaits } from './fleet-scale/user-probe.ts'
import { percentile } from './measure/api-load.ts'
import { alone, type BenchOptions, type Figure } from './measure/figure.ts'

const root = join(import.meta.dirname, '../..')
const usualSites = [1_000, 3_000, 10_000]
const loadNames = ['policy', 'objects', 'restart', 'away'] as const
type LoadName = (typeof loadNames)[number]
/** The sites run in this many processes, so that one of them is a third of the sites. */
const processes = 3
const atOnce = 20
/** The engine gives back what a burst took after half a minute. */
const settleMs = 40_000
const observedMs = 30_000
const stepMsMax = 900_000
const lookMs = 250
/** Each site has a Deployment and so many ConfigMaps. */
const configMaps = 19
/** The files of a hub's process that are not connections of sites, and the connections that one site may hold. */
const otherFiles = 1_000
const filesPerSite = 8

/** Measures a hub with thousands of sites, each with an agent's own code in front of a simulated API server. */
export async function run(options: BenchOptions): Promise<Figure[]> {
  const loads = loadsOf(options)
  const sizes = options.sites ?? usualSites
  requireFiles(Math.max(...sizes))
  await mkdir(join(root, '.cache'), { recursive: true })
  const parent = await mkdtemp(join(root, '.cache', 'bench-fleet-scale-'))
  try {
    const program = await bundleProgram({ outputDirectory: join(parent, 'program'), version })
    const figures: Figure[] = []
    for (const count of sizes) {
      const directory = join(parent, String(count))
      const place = { program, directory, port: await freePort() }
      const own = await measure(place, { count, loads })
      figures.push(...own)
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    }
    return figures
  } finally {
    await rm(parent, { recursive: true, force: true, maxRetries: 5 })
  }
}

function loadsOf({ loads = loadNames }: BenchOptions): ReadonlySet<LoadName> {
  const known = new Map<string, LoadName>(loadNames.map((name) => [name, name]))
  return new Set(
    loads.map((load) => {
      const name = known.get(load)
      if (name !== undefined) return name
      const text = `Cannot measure load ${load}: there are ${loadNames.join(', ')}`
      throw new ExpectedError(text, exitCodes.usage)
    }),
  )
}

function requireFiles(sites: number): void {
  const most = Number(execFileSync('sh', ['-c', 'ulimit -Hn'], { encoding: 'utf8' }))
  const needed = otherFiles + sites * filesPerSite
  if (Number.isNaN(most) || most >= needed) return
  const text = `Cannot measure ${sites} sites: ${most} files may be open; run "ulimit -n ${needed}" first`
  throw new ExpectedError(text, exitCodes.usage)
}

interface Measured {
  readonly hub: MeasuredHub
  readonly fleet: SiteFleet
  readonly add: (name: string, unit: string, value: number, goal?: number) => void
}

async function measure(
  place: Parameters<typeof startMeasuredHub>[0],
  { count, loads }: { readonly count: number; readonly loads: ReadonlySet<LoadName> },
): Promise<Figure[]> {
  const figures: Figure[] = []
  const add: Measured['add'] = (name, unit, value, goal) => {
    const figure = alone(`fleet-scale.${count}.${name}`, unit, value, goal ?? null)
    console.error(`${figure.figure}: ${figure.ours} ${unit}`)
    figures.push(figure)
  }
  await using hub = await startMeasuredHub(place)
  await sleep(settleMs)
  const emptyMegabytes = await hub.memory()
  add('empty.memory', 'MB', emptyMegabytes)
  const names = Array.from({ length: count }, (_, number) => `edge-${number}`)
  const own = { hub: hub.url, directory: join(place.directory, 'sites'), atOnce }
  await writeIdentities(place, names, own.directory)
  const startMs = performance.now()
  await using fleet = await startSiteFleet(own, names, processes)
  const measured = { hub, fleet, add }
  await whileUsed('registered', measured, () => untilAllReady(measured))
  add('registered', 's for all', (performance.now() - startMs) / 1_000)
  await measureRest('rest', emptyMegabytes, measured)
  if (loads.has('policy')) await measurePolicy(measured)
  if (loads.has('objects')) await measureObjects(emptyMegabytes, measured)
  if (loads.has('restart')) await measureRestart(measured)
  if (loads.has('away')) await measureAway(measured)
  return figures
}

async function untilAllReady({ hub, fleet }: Measured): Promise<void> {
  await fleet.until(({ open, count }) => open === count, stepMsMax)
  await until(async () => (await readyClusters(hub.client)) === fleet.count, 'all to be ready')
}

async function until(isSo: () => Promise<boolean>, what: string): Promise<void> {
  const endMs = performance.now() + stepMsMax
  while (!(await isSo())) {
    if (performance.now() > endMs) throw new Error(`Cannot measure: timed out waiting for ${what}`)
    await sleep(lookMs)
  }
}

/** Does it while a user reads, and adds what it cost the hub and how long the user waited. */
async function whileUsed<T>(name: string, measured: Measured, work: () => Promise<T>): Promise<T> {
  const { hub, fleet, add } = measured
  const beforeMs = await hub.processorMs()
  const { result, waits } = await waitsDuring(hub.client, work)
  add(`${name}.processor`, 'ms each', ((await hub.processorMs()) - beforeMs) / fleet.count)
  addWaits(name, waits, measured)
  return result
}

function addWaits(name: string, waits: UserWaits, { add }: Measured): void {
  for (const kind of ['get', 'list', 'watch'] as const) {
    // A short phase may have none.
    if (Number.isFinite(waits[kind])) add(`${name}.user.${kind}.p99`, 'ms', waits[kind])
  }
  add(`${name}.user.refused`, 'requests', waits.refused)
}

async function measureRest(
  name: string,
  emptyMegabytes: number,
  { hub, fleet, add }: Measured,
): Promise<void> {
  await sleep(settleMs)
  const { processor, writesPerSecond, storeBytesPerSecond } = await hub.atRest(observedMs)
  const megabytes = await hub.memory()
  add(`${name}.memory`, 'MB', megabytes)
  add(`${name}.memory.each`, 'kB', ((megabytes - emptyMegabytes) * 1_000) / fleet.count, 250)
  add(`${name}.processor`, 'ms per s', processor, 300)
  add(`${name}.writes`, '1/s', writesPerSecond)
  add(`${name}.store`, 'kB per s', storeBytesPerSecond / 1_000)
}

/** Measures from the policy, and from the change of an image, until the sites have it. */
async function measurePolicy(measured: Measured): Promise<void> {
  const { hub, fleet, add } = measured
  const times = (text: string, sinceMs: number): number[] =>
    fleet.writtenAtMs(text).map((atMs) => (atMs - sinceMs) / 1_000)
  const untilWritten = (text: string): Promise<void> =>
    fleet.until(({ count }) => fleet.writtenAtMs(text).length >= count, stepMsMax)
  const first = `Deployment web ${firstImage}`
  const { written, statusMs } = await whileUsed('policy', measured, async () => {
    const startMs = Date.now()
    await placeDeployment(hub.client, 'web')
    await untilWritten(first)
    await until(
      async () => (await readyReplicas(hub.client, 'web')) === fleet.count,
      'the status of all',
    )
    return { written: times(first, startMs), statusMs: Date.now() - startMs }
  })
  add('policy.p50', 's', percentile(written, 50))
  add('policy.p99', 's', percentile(written, 99))
  add('policy.all', 's', Math.max(...written), 60)
  add('policy.status.all', 's', statusMs / 1_000)
  const image = 'registry.example.com/web:2'
  const second = `Deployment web ${image}`
  const startMs = Date.now()
  await whileUsed('waves', measured, async () => {
    await changeImage(hub.client, 'web', image)
    await untilWritten(second)
  })
  add('waves.all', 's', Math.max(...times(second, startMs)))
}

async function measureObjects(emptyMegabytes: number, measured: Measured): Promise<void> {
  const { hub, fleet, add } = measured
  const names = Array.from({ length: configMaps }, (_, number) => `settings-${number}`)
  const startMs = performance.now()
  await whileUsed('objects', measured, async () => {
    await placeConfigMaps(hub.client, names)
    const haveAll = ({ count }: SiteFleet): boolean =>
      names.every((name) => fleet.writtenAtMs(`ConfigMap ${name}`).length >= count)
    await fleet.until(haveAll, stepMsMax)
  })
  add('objects.all', 's', (performance.now() - startMs) / 1_000)
  await measureRest('objects.rest', emptyMegabytes, measured)
}

/** Measures how all sites return after the hub was killed. */
async function measureRestart(measured: Measured): Promise<void> {
  const { hub, fleet, add } = measured
  fleet.forget()
  await hub.restart()
  const readyMs = Date.now()
  await whileUsed('restart', measured, () =>
    fleet.until(
      ({ openedAtMs, count, open }) => openedAtMs.length >= count && open === count,
      stepMsMax,
    ),
  )
  const back = fleet.openedAtMs.map((atMs) => (atMs - readyMs) / 1_000)
  add('restart.back.50', 's', percentile(back, 50))
  add('restart.back.all', 's', Math.max(...back), 90)
  add('restart.memory', 'MB', await hub.memory())
}

/** A third of the sites stops in the middle of everything, comes back, and at last goes without a word. */
async function measureAway(measured: Measured): Promise<void> {
  const { hub, fleet, add } = measured
  const rest = fleet.count - Math.ceil(fleet.count / processes)
  const isDown = async (): Promise<boolean> => (await readyClusters(hub.client)) <= rest
  const unknownMs = await whileUsed('away', measured, async () => {
    const startMs = performance.now()
    fleet.signal(processes - 1, 'SIGSTOP')
    await until(isDown, 'a third to be unknown')
    return performance.now() - startMs
  })
  add('away.unknown', 's', unknownMs / 1_000)
  const backMs = await whileUsed('away.back', measured, async () => {
    const startMs = performance.now()
    fleet.signal(processes - 1, 'SIGCONT')
    await untilAllReady(measured)
    return performance.now() - startMs
  })
  add('away.back', 's', backMs / 1_000)
}
