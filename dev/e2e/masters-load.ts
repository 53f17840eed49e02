/**
 * A client of several masters, as a process in a host of its own: `masters-load.ts <kubeconfig> <url>…`. It creates
 * one object after the other, with what was acknowledged written down, and watches them, and changes over as a node
 * does. A line on its input ends it; its last line of output is the report.
 */
import { once } from 'node:events'
import { isStatusError, type ConfigMap } from '@skerry/api'
import { linkedSignal, runAll, silentLogger, systemClock, systemRandom } from '@skerry/base'
import { ApiServers, createCluster, loadKubeconfig, resources } from '@skerry/client'

/** The client's findings. */
export interface LoadReport {
  readonly acknowledged: number
  /** Acknowledged objects that are not there. */
  readonly lost: readonly string[]
  /** Objects that the watch has not shown, or shown twice. */
  readonly unseen: readonly string[]
  readonly repeated: readonly string[]
  /** The longest time between two acknowledgements. */
  readonly pauseMs: number
  /** The holders of the leaders' lease, in their order. */
  readonly leaders: readonly string[]
}

const deps = { clock: systemClock, random: systemRandom, log: silentLogger }
const namespace = 'default'
const labels = { app: 'masters-load' }
const labelSelector = 'app=masters-load'

const [kubeconfig = '', ...urls] = process.argv.slice(2)
const { transport: target } = await loadKubeconfig(kubeconfig, {}, { ...deps, environment: {} })
const { certificateAuthority = '', credentials } = target
using servers = new ApiServers(
  { client: 'load', given: urls, named: urls, certificateAuthority },
  deps,
)
const transport = servers.transport({
  certificateAuthority,
  ...(credentials ? { credentials } : {}),
})
const cluster = createCluster(transport, { ...deps, userAgent: 'masters-load' })
const maps = cluster.resource(resources.configMaps)
const leases = cluster.resource(resources.leases)

const acknowledged = new Set<string>()
const seen = new Map<string, number>()
const leaders: string[] = []
let pauseMs = 0
using stop = linkedSignal(new AbortController().signal)
void once(process.stdin, 'data').then(() => stop.abort(new Error('The test is over')))

async function write(signal: AbortSignal): Promise<void> {
  let lastMs = performance.now()
  for (let n = 0; ; n += 1) {
    const name = `load-${n}`
    const object: ConfigMap = {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace, labels },
    }
    await untilAnswered(() => maps.create(object, signal), signal)
    const nowMs = performance.now()
    pauseMs = Math.max(pauseMs, nowMs - lastMs)
    lastMs = nowMs
    acknowledged.add(name)
    if (n % 10 === 0) console.log(`acknowledged ${n}`)
    await systemClock.sleep(20, signal)
  }
}

/** An object that is there already is that of a try whose answer was lost. */
async function untilAnswered(ask: () => Promise<unknown>, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      await ask()
      return
    } catch (error) {
      if (isStatusError(error, 'AlreadyExists')) return
      signal.throwIfAborted()
      await systemClock.sleep(50, signal)
    }
  }
}

/** Goes on at the last version, at any master, as `kubectl get -w` of a patient person. */
async function watchObjects(signal: AbortSignal): Promise<void> {
  const { metadata, items } = await maps.list({ namespace, labelSelector }, signal)
  for (const each of items) seen.set(each.metadata.name ?? '', 1)
  let { resourceVersion = '' } = metadata
  for (;;) {
    try {
      const request = { namespace, labelSelector, resourceVersion }
      for await (const event of maps.watch(request, signal)) {
        if (event.type === 'BOOKMARK') resourceVersion = event.resourceVersion
        else resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion
        if (event.type !== 'ADDED') continue
        const { name = '' } = event.object.metadata
        seen.set(name, (seen.get(name) ?? 0) + 1)
      }
    } catch (error) {
      signal.throwIfAborted()
      // A version that is gone would be a gap.
      if (isStatusError(error, 'Expired')) throw error
    }
    await systemClock.sleep(100, signal)
  }
}

async function watchLeaders(signal: AbortSignal): Promise<void> {
  const key = { namespace: 'kube-system', name: 'kube-controller-manager' }
  for (;;) {
    try {
      const { holderIdentity = '' } = (await leases.get(key, signal)).spec ?? {}
      if (holderIdentity !== '' && leaders.at(-1) !== holderIdentity) leaders.push(holderIdentity)
    } catch {
      // No master answers now; the next look is soon.
      signal.throwIfAborted()
    }
    await systemClock.sleep(300, signal)
  }
}

await Promise.all([
  runAll(stop.signal, [write, watchLeaders]),
  (async () => {
    // The watch goes on for a moment, so that it can show the last objects.
    using watching = linkedSignal(new AbortController().signal)
    await runAll(watching.signal, [
      (scope) => servers.run(scope),
      watchObjects,
      async (scope) => {
        await new Promise((resolve) => stop.signal.addEventListener('abort', resolve))
        const late = systemClock.monotonicMs() + 10_000
        while ([...acknowledged].some((name) => !seen.has(name))) {
          if (systemClock.monotonicMs() > late) break
          await systemClock.sleep(100, scope)
        }
        watching.abort(new Error('The test is over'))
      },
    ])
  })(),
])

const { items } = await maps.list({ namespace, labelSelector }, AbortSignal.timeout(10_000))
const stored = new Set(items.map(({ metadata }) => metadata.name))
const report: LoadReport = {
  acknowledged: acknowledged.size,
  lost: [...acknowledged].filter((name) => !stored.has(name)),
  unseen: [...acknowledged].filter((name) => !seen.has(name)),
  repeated: [...seen].filter(([, count]) => count > 1).map(([name]) => name),
  pauseMs: Math.round(pauseMs),
  leaders,
}
console.log(JSON.stringify(report))
process.exit(0)
