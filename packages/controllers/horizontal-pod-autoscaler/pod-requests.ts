import { quantityToMilli, type Container, type Pod } from '@skerry/api'

/** Returns each pod's request of a resource, in thousandths. Throws if one of them has none. */
export function requestsOf(
  pods: readonly Pod[],
  resource: string,
  container: string,
): Map<string, number> {
  return new Map(pods.map((pod) => [pod.metadata.name ?? '', requestOf(pod, resource, container)]))
}

function requestOf(pod: Pod, resource: string, container: string): number {
  const { name: podName = '' } = pod.metadata
  const ofPod = pod.spec?.resources?.requests
  if (container === '' && ofPod && Object.keys(ofPod).length > 0) {
    const request = ofPod[resource] ?? sumOrUndefined(pod, resource)
    if (request === undefined) {
      throw new RangeError(`missing pod-level request for ${resource} in Pod ${podName}`)
    }
    return typeof request === 'number' ? request : quantityToMilli(request)
  }
  let total = 0
  for (const each of containersOf(pod)) {
    if (container !== '' && each.name !== container) continue
    const request = each.resources?.requests?.[resource]
    if (request === undefined) {
      throw new RangeError(
        `missing request for ${resource} in container ${each.name} of Pod ${podName}`,
      )
    }
    total += quantityToMilli(request)
    if (container !== '') return total
  }
  if (container !== '') throw new RangeError(`container ${container} not found in Pod ${podName}`)
  return total
}

/** Sidecars run as long as the others and count like them. */
function containersOf({ spec }: Pod): Container[] {
  const sidecars = (spec?.initContainers ?? []).filter(
    ({ restartPolicy }) => restartPolicy === 'Always',
  )
  return [...(spec?.containers ?? []), ...sidecars]
}

function sumOrUndefined(pod: Pod, resource: string): number | undefined {
  const requests = containersOf(pod).flatMap((each) => each.resources?.requests?.[resource] ?? [])
  return requests.length === 0
    ? undefined
    : requests.reduce((sum, request) => sum + quantityToMilli(request), 0)
}
