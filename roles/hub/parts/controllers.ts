import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Task } from '@skerry/base'
import { createControllerMetrics, runAsLeader } from '@skerry/controller-runtime'
import {
  bootstrapSignerController,
  csrCleanerController,
  createNamespaceController,
  garbageCollector,
  runControllers,
  serviceAccountController,
  tokenCleanerController,
} from '@skerry/controllers'
import type { HubPart } from '../contract/hub-part.ts'

/**
 * The controllers of kube-controller-manager that a hub needs: it has objects and identities, but no workloads. If they
 * were found by name, the hub would load all others, too.
 */
const usual = [
  serviceAccountController,
  garbageCollector,
  csrCleanerController,
  bootstrapSignerController,
  tokenCleanerController,
]

/** Runs these and the controllers of the other parts; if there are several replicas, on one at a time. */
export function controllers(
  { hasReplicas }: { readonly hasReplicas: boolean },
  others: readonly HubPart[],
): HubPart {
  return {
    tasks(hub) {
      const { clock, random, log } = hub.context
      // A replica that becomes the leader again goes on counting.
      const metrics = createControllerMetrics(hub.context.metrics)
      const deps = { cluster: hub.cluster, clock, random, log, metrics }
      const control: Task = async (scope) => {
        const configured = others.flatMap((part) => part.controllers?.(hub) ?? [])
        const namespaces = createNamespaceController(
          others.flatMap(({ endFirst = [] }) => endFirst),
        )
        await runControllers([namespaces, ...usual, ...configured], deps, scope)
        scope.throwIfAborted()
      }
      if (!hasReplicas) return [control]
      const identity = `${hostname()}_${randomUUID()}`
      const election = { namespace: 'kube-system', name: 'skerry-hub', identity }
      return [(scope) => runAsLeader(election, deps, scope, control)]
    },
  }
}
