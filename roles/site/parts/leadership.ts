import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { asError, runAll, type Clock } from '@skerry/base'
import { createCluster, createEventSink } from '@skerry/client'
import {
  createInformerSet,
  fencedTransport,
  runAsLeader,
  type Leadership,
} from '@skerry/controller-runtime'
import { siteBounds } from '../limits-table.ts'
import type { LeadTerm, OpenSite, SitePart, SiteTerm } from '../contract/site-part.ts'
import { siteUser, userAgent } from './site-user.ts'

export interface LedPrograms {
  readonly hasControllers: boolean
  readonly hasScheduler: boolean
  /** True: other masters may be on the same store, and one of them acts at a time. */
  readonly isShared: boolean
}

const { acquirePeriodMs, repairMs } = siteBounds.leadership

/** Runs what only one process of a site may run: the `leads` of all parts. */
export function leadership(programs: LedPrograms, parts: readonly SitePart[]): SitePart {
  const { hasControllers, hasScheduler, isShared } = programs
  return {
    async tasks(site) {
      const { clock, random, log } = site.context
      const repair = (scope: AbortSignal): Promise<never> => repairForever(site, clock, scope)
      // Repairs compare what they change, so that any number of masters may make them.
      if (!hasControllers && !hasScheduler) return [repair]
      const leads: LeadTerm[] = []
      for (const part of parts) if (part.leads) leads.push(await part.leads(site))
      const act = async (scope: AbortSignal, held?: Leadership): Promise<void> => {
        const term = openTerm(site, held)
        const { informers, events } = term
        await runAll(scope, [
          (each) => informers.run(each),
          (each) => events.run(each),
          repair,
          ...leads.flatMap((lead) => lead(term)),
        ])
        scope.throwIfAborted()
      }
      if (!isShared) return [(scope) => act(scope)]
      const election = {
        namespace: 'kube-system',
        // Upstream's names keep a program of another kind from doing the same work.
        name: hasControllers ? 'kube-controller-manager' : 'kube-scheduler',
        identity: `${hostname()}_${randomUUID()}`,
        acquirePeriodMs,
      }
      const deps = { cluster: site.cluster, clock, random, log }
      return [(scope) => runAsLeader(election, deps, scope, act)]
    },
  }
}

/** Makes one set of informers for all controllers and the scheduler: one copy of all objects in memory. */
function openTerm(site: OpenSite, held: Leadership | undefined): SiteTerm {
  const { clock, random, log } = site.context
  const transport = site.server.transport(siteUser)
  const cluster = createCluster(held ? fencedTransport(transport, held) : transport, {
    log,
    clock,
    userAgent,
  })
  const informers = createInformerSet(cluster, { clock, random, log })
  return { ...site, cluster, informers, events: createEventSink(cluster, { clock, log }) }
}

async function repairForever(
  { server, context: { log } }: OpenSite,
  clock: Clock,
  signal: AbortSignal,
): Promise<never> {
  for (;;) {
    try {
      await server.repairNodePorts(signal)
    } catch (error) {
      signal.throwIfAborted()
      log.info('Records of node ports not repaired, trying again', { error: asError(error) })
    }
    await clock.sleep(repairMs, signal)
  }
}
