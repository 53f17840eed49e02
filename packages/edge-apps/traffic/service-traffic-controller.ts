import { equalJson, isStatusError, StatusError, type Node, type Service } from '@skerry/api'
import { ifThere, keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  runController,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ControllerDeps,
} from '@skerry/controller-runtime'
import { edgeAppsBounds } from '../limits-table.ts'
import { planTraffic, type Distribution } from './traffic-plan.ts'

/** An annotation of a service: the distribution that this controller has asked for, or `NotKept`. */
const mark = 'edge.skerry.io/traffic'
const notKept = 'NotKept'

/** Its fields of services go when it no longer applies them, and those of others stay. */
const appliedBy = 'skerry-edge-apps-traffic'

const { nodeDelayMs } = edgeAppsBounds.appController

const serviceTrafficController: ControllerDefinition = {
  name: 'service-traffic-controller',
  watches: [
    watch(resources.services, { keysOf: keysOfService }),
    watch(resources.nodes, { keysOf: keysOfNode, delayMs: nodeDelayMs }),
  ],
  reconcile,
}

/**
 * Keeps the traffic of annotated services near in a cluster whose nodes have other service proxies: they know the fields
 * of Kubernetes alone. Runs until the signal aborts.
 */
export function runServiceTraffic(deps: ControllerDeps, signal: AbortSignal): Promise<void> {
  return runController(serviceTrafficController, deps, signal)
}

function keysOfService({ object, old, type }: Change<Service>): string[] {
  if (type === 'deleted' || !(concerns(object) || (old && concerns(old)))) return []
  return [keyOfObject(object)]
}

/** The zones of nodes say whether a label is as good as a zone. */
function keysOfNode({ object, old }: Change<Node>, context: ControllerContext): string[] {
  if (old && equalJson(old.metadata.labels ?? {}, object.metadata.labels ?? {})) return []
  return context.informer(resources.services).list().filter(concerns).map(keyOfObject)
}

function concerns(service: Service): boolean {
  return markOf(service) !== undefined || planTraffic(service, []) !== undefined
}

function markOf({ metadata }: Service): string | undefined {
  return metadata.annotations?.[mark]
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const service = context.informer(resources.services).get(parseKey(key))
  if (!service || service.metadata.deletionTimestamp !== undefined) return
  const plan = planTraffic(service, context.informer(resources.nodes).list())
  if (plan && 'distribution' in plan) return ask(service, plan.distribution, context, signal)
  const wanted = plan && notKept
  if (markOf(service) === wanted) return
  if (plan) tell(service, plan.fault, context)
  await apply(service, wanted === undefined ? {} : { mark: wanted }, context, signal)
}

/** Asks for endpoints that are near, unless somebody else has decided about the field. */
async function ask(
  service: Service,
  distribution: Distribution,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  // A person who has changed the field since then keeps it.
  if (markOf(service) === distribution) return
  try {
    const applied = await applyKnown(service, distribution, context, signal)
    if (applied && applied.spec?.trafficDistribution === undefined) {
      tell(service, 'this version of Kubernetes has no spec.trafficDistribution', context)
    }
  } catch (error) {
    if (isStatusError(error, 'Conflict')) return
    if (!(error instanceof StatusError) || error.reason !== 'Invalid') throw error
    if (markOf(service) === notKept) return
    tell(service, error.message, context)
    await apply(service, { mark: notKept }, context, signal)
  }
}

/** Kubernetes before 1.34 has an older word for a zone. */
async function applyKnown(
  service: Service,
  distribution: Distribution,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Service | undefined> {
  const asked = { mark: distribution, distribution }
  try {
    return await apply(service, asked, context, signal)
  } catch (error) {
    if (!isStatusError(error, 'Invalid') || distribution === 'PreferSameNode') throw error
    return apply(service, { ...asked, distribution: 'PreferClose' }, context, signal)
  }
}

interface Applied {
  readonly mark?: string
  readonly distribution?: string
}

/** Without force, so that a field of somebody else is a conflict. */
function apply(
  { metadata: { name = '', namespace = '', uid } }: Service,
  { mark: value, distribution }: Applied,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<Service | undefined> {
  const patch = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, uid, ...(value ? { annotations: { [mark]: value } } : {}) },
    ...(distribution ? { spec: { trafficDistribution: distribution } } : {}),
  }
  const request = { name, namespace, type: 'apply', fieldManager: appliedBy } as const
  return ifThere(
    context.client(resources.services).patch({ ...request, force: false, patch }, signal),
  )
}

function tell(service: Service, why: string, { events }: ControllerContext): void {
  const message = `Traffic is not kept near: ${why}`
  events.event(service, { type: 'Warning', reason: 'TrafficNotKept', message })
}
