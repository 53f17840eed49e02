import type { Pod, PodTemplateSpec, StatefulSet } from '@skerry/api'
import { controllerRevisionHashLabel } from '../history/controller-revisions.ts'
import { podFromTemplate } from '../pods/pod-actions.ts'
import { isPodAvailable, isPodReady } from '../pods/pod-state.ts'
import { claimName } from './volume-claims.ts'

const podNameLabel = 'statefulset.kubernetes.io/pod-name'
const podIndexLabel = 'apps.kubernetes.io/pod-index'

/** A template and the name of the revision on its pods. */
export interface Revision {
  readonly name: string
  readonly template: PodTemplateSpec
}

function podName(set: StatefulSet, ordinal: number): string {
  return `${set.metadata.name}-${ordinal}`
}

/** Returns -1 for a pod whose name is not `<set>-<number>`. */
export function ordinalOf(set: StatefulSet, pod: Pod): number {
  const prefix = `${set.metadata.name}-`
  const { name = '' } = pod.metadata
  const digits = name.startsWith(prefix) ? name.slice(prefix.length) : ''
  return /^[0-9]{1,9}$/.test(digits) ? Number(digits) : -1
}

export function startOrdinal(set: StatefulSet): number {
  return set.spec?.ordinals?.start ?? 0
}

export function wantedReplicas(set: StatefulSet): number {
  return set.spec?.replicas ?? 1
}

export function isInRange(set: StatefulSet, ordinal: number): boolean {
  const start = startOrdinal(set)
  return ordinal >= start && ordinal < start + wantedReplicas(set)
}

export function revisionNameOf(pod: Pod): string {
  return pod.metadata.labels?.[controllerRevisionHashLabel] ?? ''
}

/** Returns true if the server has the pod; a planned one has no phase. */
export function isCreated(pod: Pod): boolean {
  return (pod.status?.phase ?? '') !== ''
}

export function isTerminating(pod: Pod): boolean {
  return pod.metadata.deletionTimestamp !== undefined
}

export function isRunningAndReady(pod: Pod): boolean {
  return pod.status?.phase === 'Running' && isPodReady(pod)
}

export function isUnavailable(set: StatefulSet, pod: Pod, nowMs: number): boolean {
  return isTerminating(pod) || !isPodAvailable(pod, set.spec?.minReadySeconds ?? 0, nowMs)
}

/** Builds the pod of this ordinal: a stable name, a host name under the service, and its own claims. */
export function statefulPod(set: StatefulSet, ordinal: number, revision: Revision): Pod {
  const pod = podFromTemplate(revision.template, set)
  const name = podName(set, ordinal)
  const { metadata } = pod
  const labels = { ...metadata.labels, ...identityLabels(name, ordinal) }
  const { serviceName } = set.spec ?? {}
  return {
    ...pod,
    metadata: {
      ...metadata,
      name,
      labels: { ...labels, [controllerRevisionHashLabel]: revision.name },
    },
    spec: {
      containers: [],
      ...pod.spec,
      hostname: name,
      ...(serviceName ? { subdomain: serviceName } : {}),
      volumes: volumesOf(set, ordinal, pod.spec?.volumes ?? []),
    },
  }
}

type Volumes = NonNullable<NonNullable<Pod['spec']>['volumes']>

/** A claim template hides a volume of the same name. */
function volumesOf(set: StatefulSet, ordinal: number, volumes: Volumes): Volumes {
  const templates = set.spec?.volumeClaimTemplates ?? []
  const claimed = templates.map(({ metadata }) => ({
    name: metadata.name ?? '',
    persistentVolumeClaim: { claimName: claimName(set, metadata.name ?? '', ordinal) },
  }))
  const names = new Set(claimed.map(({ name }) => name))
  return [...claimed, ...volumes.filter(({ name }) => !names.has(name))]
}

export function identityLabels(name: string, ordinal: number): Record<string, string> {
  return { [podNameLabel]: name, [podIndexLabel]: String(ordinal) }
}

export function hasIdentity(pod: Pod): boolean {
  return pod.metadata.labels?.[podNameLabel] === pod.metadata.name
}
