import { labelSelectorOfMap, type Pod, type Service } from '@skerry/api'
import { keyOfObject, resources, type Change } from '@skerry/client'
import type { ControllerContext } from '@skerry/controller-runtime'
import { isPodFinished, isPodReady } from '../pods/pod-state.ts'

/** Returns services that selected the pod before the change or select it after. */
export function servicesOfPod(change: Change<Pod>, context: ControllerContext): string[] {
  if (change.type === 'updated' && !isRelevant(change.old, change.object)) return []
  const keys = new Set<string>()
  for (const service of context
    .informer(resources.services)
    .list(change.object.metadata.namespace)) {
    if (!hasSelector(service)) continue
    const selector = labelSelectorOfMap(service.spec?.selector ?? {})
    const pods = [change.object, ...(change.old === undefined ? [] : [change.old])]
    if (pods.some((pod) => selector.matches(pod.metadata.labels ?? {})))
      keys.add(keyOfObject(service))
  }
  return [...keys]
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
