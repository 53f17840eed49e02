import { isStatusError, type Namespace } from '@skerry/api'
import { resources } from '@skerry/client'
import {
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { sameStatus } from '../status/same-status.ts'
import { namespaceConditions, type DeletionReport } from './namespace-conditions.ts'
import { deleteContent, type EarlyResource } from './namespace-content.ts'
import { controllerBounds } from '../limits-table.ts'

const finalizer = 'kubernetes'

/**
 * Empties a namespace that is being deleted, then removes its finalizer. Objects of the resources of `first` end
 * after the pods and before everything else, which they may need for it.
 */
export function createNamespaceController(
  first: readonly EarlyResource[] = [],
): ControllerDefinition {
  return {
    name: 'namespace-controller',
    workers: 2,
    watches: [
      watch(resources.namespaces, {
        keysOf: ({ object }) =>
          object.metadata.deletionTimestamp ? [object.metadata.name ?? ''] : [],
      }),
      // The deletion of the last pod lets the rest be deleted without waiting for the next look.
      watch(resources.pods, {
        keysOf: ({ type, object }, context) =>
          type === 'deleted' && isGoing(object.metadata.namespace ?? '', context)
            ? [object.metadata.namespace ?? '']
            : [],
        delayMs: controllerBounds.namespaceController.settleMs,
      }),
    ],
    reconcile: (name, context, signal) => reconcile(name, { context, first }, signal),
  }
}

function isGoing(name: string, context: ControllerContext): boolean {
  const namespace = context.informer(resources.namespaces).get({ name })
  return namespace?.metadata.deletionTimestamp !== undefined
}

interface Scope {
  readonly context: ControllerContext
  readonly first: readonly EarlyResource[]
}

async function reconcile(
  name: string,
  { context, first }: Scope,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const namespace = await readLive(name, context, signal)
  if (!namespace?.metadata.deletionTimestamp) return
  if (!namespace.spec?.finalizers?.includes(finalizer)) return
  const report = await deleteContent(context.cluster, { namespace: name, first }, signal)
  const current = await writeStatus(namespace, report, context, signal)
  const isClean = report.remaining.size + report.failures.length + report.undiscovered.length === 0
  if (!isClean) return { requeueAfterMs: nextLookMs(current, context.clock.now()) }
  await finalize(current, context, signal)
}

/** The cache may still hold a namespace of the same name that was not being deleted. */
async function readLive(
  name: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Namespace | undefined> {
  try {
    return await context.cluster.resource(resources.namespaces).get({ name }, signal)
  } catch (error) {
    if (isStatusError(error, 'NotFound')) return undefined
    throw error
  }
}

async function writeStatus(
  namespace: Namespace,
  report: DeletionReport,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Namespace> {
  const known = namespace.status?.conditions ?? []
  const conditions = namespaceConditions(known, report, context.clock.now())
  const status = { ...namespace.status, phase: 'Terminating', conditions }
  if (sameStatus(namespace.status, status)) return namespace
  const client = context.client(resources.namespaces)
  return client.updateStatus({ ...namespace, status }, signal)
}

/** Looks soon at first, rarely for a namespace that has been stuck for long. */
function nextLookMs(namespace: Namespace, nowMs: number): number {
  const ageMs = nowMs - Date.parse(namespace.metadata.deletionTimestamp ?? '')
  return Math.min(30_000, Math.max(1_000, ageMs / 4))
}

async function finalize(
  namespace: Namespace,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== finalizer)
  const { name = '' } = namespace.metadata
  const body = { ...namespace, spec: { ...namespace.spec, finalizers } }
  try {
    await context
      .client(resources.namespaces)
      .updateSubresource({ name, subresource: 'finalize', body }, signal)
  } catch (error) {
    if (!isStatusError(error, 'NotFound')) throw error
  }
}
