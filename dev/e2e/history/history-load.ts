/**
 * Clients of three masters, as one process in a host of its own: `history-load.ts <kubeconfig> <report> <url>…`. Some ask
 * one master each, some whichever lives. Lines on its input are marks, each answered by a line; `stop` ends it, and the
 * report is then in the file.
 */
import { createInterface } from 'node:readline'
import { isStatusError } from '@skerry/api'
import {
  linkedSignal,
  runAll,
  seededRandom,
  silentLogger,
  systemClock,
  systemRandom,
} from '@skerry/base'
import {
  ApiServers,
  createCluster,
  createHttpsTransport,
  loadKubeconfig,
  resources,
  type ClusterClient,
} from '@skerry/client'
import type { Version } from '../../../testing/histories/history.ts'
import {
  labelSelector,
  LeaseWatcher,
  mapOf,
  MapWatcher,
  namespace,
  RegisterClient,
  versionOf,
} from './history-clients.ts'
import { writeReport, type LoadMark } from './history-report.ts'

const deps = { clock: systemClock, random: systemRandom, log: silentLogger, userAgent: 'history' }
const [kubeconfig = '', reportPath = '', ...urls] = process.argv.slice(2)
const { transport: target } = await loadKubeconfig(kubeconfig, {}, { ...deps, environment: {} })
const { certificateAuthority = '', credentials } = target
const access = { certificateAuthority, ...(credentials ? { credentials } : {}) }
using servers = new ApiServers(
  { client: 'load', given: urls, named: urls, certificateAuthority },
  deps,
)
const roaming = createCluster(servers.transport(access), deps)
const pinned = urls.map((server) =>
  createCluster(createHttpsTransport({ ...target, server }, deps), deps),
)

const written: (Version & { key: string })[] = []
const since = {
  acknowledged: 0,
  lastMs: performance.now(),
  pauseMs: 0,
  controllersMs: 0,
  namespaces: 0,
}

/** Creates one object after the other, with every acknowledged one written down. */
async function create(signal: AbortSignal): Promise<void> {
  const maps = roaming.resource(resources.configMaps)
  for (let n = 0; !signal.aborted; n += 1) {
    const name = `made-${n}`
    const object = await untilAnswered(
      () => maps.create(mapOf(name, name), AbortSignal.timeout(8_000)),
      () => maps.get({ namespace, name }, AbortSignal.timeout(8_000)),
      signal,
    )
    if (object === undefined) return
    written.push({ key: name, ...versionOf(object) })
    since.acknowledged += 1
    noteTime()
    await systemClock.sleep(60, signal).catch(() => undefined)
  }
}

function noteTime(): void {
  const nowMs = performance.now()
  since.pauseMs = Math.max(since.pauseMs, nowMs - since.lastMs)
  since.lastMs = nowMs
}

/** An object that is there already is that of a try whose answer was lost. */
async function untilAnswered<T>(
  ask: () => Promise<T>,
  find: () => Promise<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  let isThere = false
  while (!signal.aborted) {
    try {
      return await (isThere ? find() : ask())
    } catch (error) {
      isThere ||= isStatusError(error, 'AlreadyExists')
      if (!isThere) await systemClock.sleep(50, signal).catch(() => undefined)
    }
  }
  return undefined
}

/** Makes namespaces and waits until controllers have furnished them. */
async function askControllers(signal: AbortSignal): Promise<void> {
  const accounts = roaming.resource(resources.serviceAccounts)
  const namespaces = roaming.resource(resources.namespaces)
  for (let n = 0; !signal.aborted; n += 1) {
    const name = `asked-${n}`
    const object = { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } as const
    const beganMs = performance.now()
    const look = () =>
      accounts.get({ namespace: name, name: 'default' }, AbortSignal.timeout(8_000))
    const timer = setInterval(() => {
      since.controllersMs = Math.max(since.controllersMs, performance.now() - beganMs)
    }, 100)
    const made = () => namespaces.get({ name }, AbortSignal.timeout(8_000))
    await untilAnswered(() => namespaces.create(object, AbortSignal.timeout(8_000)), made, signal)
    await untilAnswered(look, look, signal)
    clearInterval(timer)
    since.namespaces += 1
    await systemClock.sleep(700, signal).catch(() => undefined)
  }
}

function tell(mark: string): void {
  noteTime()
  const { acknowledged, pauseMs, controllersMs, namespaces } = since
  const told: LoadMark = {
    mark,
    acknowledged,
    namespaces,
    pauseMs: Math.round(pauseMs),
    controllersMs: Math.round(controllersMs),
  }
  Object.assign(since, { acknowledged: 0, namespaces: 0, pauseMs: 0, controllersMs: 0 })
  console.log(JSON.stringify(told))
}

using stop = linkedSignal(new AbortController().signal)
using end = linkedSignal(new AbortController().signal)
const input = createInterface({ input: process.stdin })
input.on('line', (line) => {
  if (line === 'stop') stop.abort(new Error('The test is over'))
  else tell(line)
})

const clients = pinned.map(
  (cluster, at) => new RegisterClient(`m${at + 1}`, cluster, seededRandom(at + 1)),
)
const named: [string, ClusterClient][] = [
  ...pinned.map((cluster, at): [string, ClusterClient] => [`m${at + 1}`, cluster]),
  ['roaming', roaming],
]
const watchers = named.map(([name, cluster]) => new MapWatcher(name, cluster))
const leaseWatchers = pinned.map((cluster) => new LeaseWatcher(cluster))
await Promise.all(watchers.map((watcher) => watcher.list(AbortSignal.timeout(30_000))))

const watching = runAll(end.signal, [
  (scope) => servers.run(scope),
  ...watchers.map((watcher) => (scope: AbortSignal) => watcher.run(scope)),
  ...leaseWatchers.map((watcher) => (scope: AbortSignal) => watcher.run(scope)),
])
watching.catch((error: unknown) => {
  if (end.signal.aborted) return
  console.error(error)
  process.exit(1)
})
console.log('ready')
await Promise.all([
  ...clients.map((client) => client.run(stop.signal)),
  create(stop.signal),
  askControllers(stop.signal),
])
for (const client of clients) await client.readAll()
const { items, metadata } = await roaming
  .resource(resources.configMaps)
  .list({ namespace, labelSelector }, AbortSignal.timeout(20_000))
const stored = items.map((each) => [each.metadata.name ?? '', versionOf(each)] as const)
const last = Math.max(0, ...stored.map(([, { revision }]) => revision))
const lateMs = performance.now() + 20_000
while (watchers.some(({ reached }) => reached < last) && performance.now() < lateMs) {
  await systemClock.sleep(100, stop.signal).catch(() => systemClock.sleep(100, end.signal))
}
await writeReport(reportPath, {
  operations: clients.flatMap(({ operations }) => operations),
  written,
  watches: watchers.flatMap((watcher) => watcher.records(Number(metadata.resourceVersion))),
  leases: earliest(leaseWatchers),
  stored: Object.fromEntries(stored),
})
console.log('done')
end.abort(new Error('The test is over'))
process.exit(0)

/** Each version as the first of the watchers saw it, which may have been the only one that was not cut off. */
function earliest(all: readonly LeaseWatcher[]) {
  const byRevision = Map.groupBy(
    all.flatMap(({ records }) => records),
    ({ revision }) => revision,
  )
  return [...byRevision.values()]
    .flatMap((each) => each.toSorted((a, b) => a.seenMs - b.seenMs).slice(0, 1))
    .toSorted((a, b) => a.revision - b.revision)
}
