import type { Pod, Service } from '@skerry/api'
import { podCondition } from '../pods/pod-state.ts'

const triggerTimeAnnotation = 'endpoints.kubernetes.io/last-change-trigger-time'

interface Seen {
  readonly serviceMs: number
  readonly podMs: ReadonlyMap<string, number>
}

/**
 * Records when the pods of services last became ready or unready, so that endpoints can name the
 * time of their cause. A restart forgets it; the first change is then attributed to the service's
 * creation.
 */
export class TriggerTimes {
  readonly #seen = new Map<string, Seen>()

  /** RFC 3339; undefined when neither pods nor service explain a change since the last call. */
  next(key: string, service: Service, pods: readonly Pod[]): string | undefined {
    const before = this.#seen.get(key)
    const serviceMs = Date.parse(service.metadata.creationTimestamp ?? '') || 0
    const podMs = new Map(pods.map((pod) => [pod.metadata.name ?? '', readyChangeMs(pod)]))
    this.#seen.set(key, { serviceMs, podMs })
    if (before === undefined) return textOf(serviceMs)
    const changedMs = [...podMs]
      .filter(([name, ms]) => ms > (before.podMs.get(name) ?? 0))
      .map(([, ms]) => ms)
    if (serviceMs > before.serviceMs) changedMs.push(serviceMs)
    return changedMs.length === 0 ? undefined : textOf(Math.min(...changedMs))
  }

  forget(key: string): void {
    this.#seen.delete(key)
  }
}

/** Returns epoch milliseconds; 0 for a pod without a Ready condition. */
function readyChangeMs(pod: Pod): number {
  return Date.parse(podCondition(pod, 'Ready')?.lastTransitionTime ?? '') || 0
}

function textOf(ms: number): string {
  return new Date(ms).toISOString().replace('.000Z', 'Z')
}

/** Returns these annotations, with that time or without any. */
export function withTriggerTime(
  annotations: Readonly<Record<string, string>> | undefined,
  time: string | undefined,
): Record<string, string> | undefined {
  const { [triggerTimeAnnotation]: _old, ...rest } = annotations ?? {}
  const next = time === undefined ? rest : { ...rest, [triggerTimeAnnotation]: time }
  return Object.keys(next).length === 0 ? undefined : next
}
