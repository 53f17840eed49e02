import type { Container, Pod } from '@skerry/api'
import { quantityToNumber } from '@skerry/api'
import { specOf } from '../pod/pod-spec.ts'

/** The devices of one resource that a container asks for. */
export interface DeviceRequest {
  readonly resource: string
  readonly count: number
}

/**
 * Returns what a container asks of resources that plugins may have. Whether one has a name is for the caller to know:
 * resources of Kubernetes itself are left out.
 */
export function deviceRequests(container: Pick<Container, 'resources'>): DeviceRequest[] {
  return Object.entries(container.resources?.limits ?? {}).flatMap(([resource, quantity]) => {
    const count = quantityToNumber(quantity)
    return isDeviceResource(resource) && count > 0 ? [{ resource, count }] : []
  })
}

/** Extended resources have a domain, which is not one of Kubernetes. */
export function isDeviceResource(name: string): boolean {
  const at = name.indexOf('/')
  if (at === -1 || name.startsWith('requests.')) return false
  const domain = name.slice(0, at)
  return domain !== 'kubernetes.io' && !domain.endsWith('.kubernetes.io')
}

/** The devices of one resource, by container. */
export type DevicesByContainer = ReadonlyMap<string, readonly string[]>

export interface AllocationFacts {
  readonly pod: Pod
  readonly container: string
  readonly request: DeviceRequest
  readonly healthy: ReadonlySet<string>
  /** The devices that the pod's own containers have. */
  readonly own: DevicesByContainer
  /** The devices that containers of other pods have. */
  readonly taken: ReadonlySet<string>
}

export type AllocationPlan =
  /** The container has them already. */
  | { readonly kind: 'kept'; readonly ids: readonly string[] }
  /** `count` of `available` are wanted, all of `mustInclude` among them. */
  | {
      readonly kind: 'choose'
      readonly mustInclude: readonly string[]
      readonly available: readonly string[]
      readonly count: number
    }
  | { readonly kind: 'short'; readonly message: string }

/**
 * Plans which devices a container gets: those that it had, then those of init containers that run before it, then free
 * ones. Init containers that go on running keep theirs.
 */
export function planAllocation(facts: AllocationFacts): AllocationPlan {
  const { request, healthy, own, taken, container } = facts
  const { resource, count } = request
  const kept = own.get(container)
  if (kept !== undefined && kept.length === count) {
    const ill = kept.filter((id) => !healthy.has(id))
    if (ill.length === 0) return { kind: 'kept', ids: kept }
    return { kind: 'short', message: `${resource}: devices ${ill.join(', ')} are not healthy` }
  }
  const lent = lentDevices(facts)
  const mustInclude = lent.filter((id) => healthy.has(id)).slice(0, count)
  const blocked = new Set([...taken, ...[...own.values()].flat()])
  const free = [...healthy].filter((id) => !blocked.has(id)).toSorted()
  const available = [...mustInclude, ...free]
  if (available.length < count) {
    const message = `requested number of devices unavailable for ${resource}. Requested: ${count}, Available: ${available.length}`
    return { kind: 'short', message }
  }
  return { kind: 'choose', mustInclude, available, count }
}

/** Returns the devices of init containers that have ended before this container starts, and that no other one uses. */
function lentDevices({ pod, container, own }: AllocationFacts): string[] {
  const { initContainers = [] } = specOf(pod)
  const at = initContainers.findIndex(({ name }) => name === container)
  const before = at === -1 ? initContainers : initContainers.slice(0, at)
  const ended = new Set(
    before.filter(({ restartPolicy }) => restartPolicy !== 'Always').map(({ name }) => name),
  )
  const inUse = new Set([...own].filter(([name]) => !ended.has(name)).flatMap(([, ids]) => ids))
  const lent = [...own].filter(([name]) => ended.has(name)).flatMap(([, ids]) => ids)
  return [...new Set(lent)].filter((id) => !inUse.has(id))
}

/** Keeps the plugin's choice if it is one of those that it was offered; otherwise the first devices are taken. */
export function chosenOf(
  plan: Extract<AllocationPlan, { kind: 'choose' }>,
  preferred: readonly string[],
): readonly string[] {
  const offered = new Set(plan.available)
  const isGood =
    preferred.length === plan.count &&
    new Set(preferred).size === plan.count &&
    preferred.every((id) => offered.has(id)) &&
    plan.mustInclude.every((id) => preferred.includes(id))
  return isGood ? preferred : plan.available.slice(0, plan.count)
}
