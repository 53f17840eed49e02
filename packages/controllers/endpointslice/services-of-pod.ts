import { labelSelectorOfMap, type Node, type Pod, type Service } from '@skerry/api'
import { keyOfObject, resources, type Change } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { isPodFinished, isPodReady } from '../pods/pod-state.ts'
import { zoneOf } from './endpoint-plan.ts'

/** Returns services that selected the pod before the change or select it after. */
export function servicesOfPod(change: Change<Pod>, context: ControllerContext): string[] {
  if (change.type === 'updated' && !isRelevant(change.old, change.object)) return []
  return servicesSelecting(
    [change.object, ...(change.old === undefined ? [] : [change.old])],
    context,
  )
}

/** Returns the services of the pods on a node whose zone has changed, because their slices name the zone. */
export function servicesOnNode(change: Change<Node>, context: ControllerContext): string[] {
  const { type, old, object } = change
  if (type !== 'updated' || zoneOf(old) === zoneOf(object)) return []
  const pods = context.informer(resources.pods).list()
  const own = pods.filter(({ spec }) => spec?.nodeName === object.metadata.name)
  return [...new Set(own.flatMap((pod) => servicesSelecting([pod], context)))]
}

/** Returns the services that select one of these states of a pod. */
function servicesSelecting(pods: readonly [Pod, ...Pod[]], context: ControllerContext): string[] {
  const services = context.informer(resources.services).list(pods[0].metadata.namespace)
  const selecting = services.filter((service) => {
    const selector = labelSelectorOfMap(service.spec?.selector ?? {})
    return hasSelector(service) && pods.some((pod) => selector.matches(pod.metadata.labels ?? {}))
  })
  return selecting.map(keyOfObject)
}

/** Without a selector another owner maintains the endpoints; an ExternalName has none. */
export function hasSelector(service: Service): boolean {
  return (
    Object.keys(service.spec?.selector ?? {}).length > 0 && service.spec?.type !== 'ExternalName'
  )
}

export function podsOfService(service: Service, context: ControllerContext): Pod[] {
  const selector = labelSelectorOfMap(service.spec?.selector ?? {})
  return context
    .informer(resources.pods)
    .list(service.metadata.namespace)
    .filter((pod) => selector.matches(pod.metadata.labels ?? {}))
    .toSorted((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1))
}

function isRelevant(old: Pod, pod: Pod): boolean {
  const view = (each: Pod): string => {
    const { metadata, spec, status } = each
    return JSON.stringify([
      metadata.labels,
      metadata.deletionTimestamp,
      spec?.hostname,
      spec?.nodeName,
      status?.podIP,
      isPodFinished(each),
      isPodReady(each),
    ])
  }
  return view(old) !== view(pod)
}
