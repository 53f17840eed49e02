import {
  createBackoff,
  logFailure,
  runAll,
  withTimeout,
  type Backoff,
  type Clock,
  type Logger,
  type Random,
} from '@skerry/base'
import {
  createCluster,
  createHttpsTransport,
  serverCertificateEnd,
  type ClusterClient,
} from '@skerry/client'
import type { ResourceInterpreter } from '@skerry/interpreter'
import { runClusterReporter, type ClusterReporterTiming } from '../report/cluster-reporter.ts'
import { EdgeObserver } from '../report/edge-observer.ts'
import { runWorks } from '../work/run-works.ts'
import { allowImpersonator, forbidImpersonator } from './impersonator.ts'
import { memberApi } from './member-api.ts'
import type { PushTarget } from './push-target.ts'
import { clusterAgentBounds } from '../limits-table.ts'

export interface PushDeps {
  readonly hub: ClusterClient
  readonly interpreter: () => Promise<ResourceInterpreter>
  readonly timing: Partial<ClusterReporterTiming>
  readonly clock: Clock
  readonly random: Random
  readonly log: Logger
}

/** One cluster in push mode. */
export interface PushedCluster {
  readonly name: string
  /** The UID of its namespace kube-system, as its Cluster records it; undefined if it records none. */
  readonly id: string | undefined
  readonly target: PushTarget
}

const { partingMs } = clusterAgentBounds.pushCluster

/**
 * Does an agent's work for one cluster: reports its status and applies its Works. Runs until the signal
 * aborts; retries after failures, which affect no other cluster.
 */
export async function pushCluster(
  pushed: PushedCluster,
  given: PushDeps,
  signal: AbortSignal,
): Promise<void> {
  const deps = { ...given, log: given.log.child({ cluster: pushed.name }) }
  await untilDone(deps, signal, (scope) => pushOnce(pushed, deps, scope))
}

/** Removes the hub's own objects from the cluster. The objects of Works stay. */
export async function partFrom(
  { target }: PushedCluster,
  { clock, log }: Pick<PushDeps, 'clock' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const message = `Cannot leave the cluster: no answer in ${partingMs} ms`
  using transport = createHttpsTransport(memberApi(target, target.token, clock), { clock })
  const member = createCluster(transport, { clock, log, userAgent: 'skerry-hub' })
  await withTimeout({ ms: partingMs, message, clock }, signal, (scope) =>
    forbidImpersonator(member, scope),
  )
}

async function pushOnce(
  { name, id, target }: PushedCluster,
  { hub, interpreter, timing, clock, random, log }: PushDeps,
  signal: AbortSignal,
): Promise<void> {
  const api = memberApi(target, target.token, clock)
  using transport = createHttpsTransport(api, { clock })
  const parts = { clock, random, log }
  const local = createCluster(transport, { clock, log, userAgent: 'skerry-hub' })
  const certificateEnd = (scope: AbortSignal) => serverCertificateEnd(api, { clock }, scope)
  const observer = new EdgeObserver({ ...parts, local, certificateEnd })
  const { impersonator } = target
  await runAll(signal, [
    (scope) => observer.run(scope),
    (scope) =>
      runClusterReporter({ name, isPushed: true, timing }, { ...parts, hub, observer }, scope),
    async (scope) => {
      await untilDone(parts, scope, () => checkIdentity(observer, id))
      if (impersonator) {
        await untilDone(parts, scope, (attempt) =>
          allowImpersonator(local, impersonator.namespace, attempt),
        )
      }
      const works = { clusterName: name, interpreter: await interpreter() }
      await runWorks(works, { ...parts, hub, local }, scope)
    },
  ])
}

/** Prevents writes to a cluster other than the one that joined. */
async function checkIdentity(observer: EdgeObserver, id: string | undefined): Promise<void> {
  const found = await observer.id()
  if (id === undefined || id === found) return
  throw new Error(`Cannot push to cluster: the one that answers has another id, ${found}`)
}

async function untilDone(
  { clock, random, log }: Pick<PushDeps, 'clock' | 'random' | 'log'>,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const backoff: Backoff = createBackoff(clusterAgentBounds.pushCluster.retry, random)
  for (;;) {
    try {
      return await work(signal)
    } catch (error) {
      signal.throwIfAborted()
      const waitMs = backoff.nextMs()
      const fields = { waitMs: Math.round(waitMs) }
      logFailure(log, { subject: 'Push', message: 'Cluster not pushed to yet', error, fields })
      await clock.sleep(waitMs, signal)
    }
  }
}
