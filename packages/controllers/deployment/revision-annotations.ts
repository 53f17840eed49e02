import type { Deployment, ReplicaSet } from '@skerry/api'
import { fencepostsOf, wantedReplicas } from './replica-sets.ts'
import { controllerBounds } from '../limits-table.ts'

export const annotationNames = Object.freeze({
  revision: 'deployment.kubernetes.io/revision',
  revisionHistory: 'deployment.kubernetes.io/revision-history',
  desiredReplicas: 'deployment.kubernetes.io/desired-replicas',
  maxReplicas: 'deployment.kubernetes.io/max-replicas',
})

/** Annotations about the object they are on, which are not copied between deployment and replica set. */
const ownAnnotations: ReadonlySet<string> = new Set([
  ...Object.values(annotationNames),
  'kubectl.kubernetes.io/last-applied-configuration',
  'deprecated.deployment.rollback.to',
])

const { historyLengthMax } = controllerBounds.revisionAnnotations

type Annotations = Readonly<Record<string, string>>

export function numberAnnotation(replicaSet: ReplicaSet, name: string): number | undefined {
  const text = replicaSet.metadata.annotations?.[name]
  return text !== undefined && /^[0-9]+$/.test(text) ? Number(text) : undefined
}

/** A 64-bit number: that of an adopted replica set may exceed what a double holds exactly. */
export function revisionOf(replicaSet: ReplicaSet): bigint {
  return parseRevision(replicaSet.metadata.annotations?.[annotationNames.revision] ?? '0') ?? 0n
}

function parseRevision(text: string): bigint | undefined {
  return /^[0-9]+$/.test(text) ? BigInt(text) : undefined
}

export function nextRevision(old: readonly ReplicaSet[]): bigint {
  return old.map(revisionOf).reduce((most, one) => (one > most ? one : most), 0n) + 1n
}

/** Returns the sizes that this deployment's replica sets were made for. Differences reveal scaling. */
export function sizeAnnotations(deployment: Deployment): Annotations {
  const wanted = wantedReplicas(deployment)
  return {
    [annotationNames.desiredReplicas]: String(wanted),
    [annotationNames.maxReplicas]: String(wanted + fencepostsOf(deployment).maxSurge),
  }
}

/**
 * Returns the annotations of the current replica set: the deployment's own, and the highest
 * revision. When it gets a higher one again (a rollback), its former revision goes into its
 * history.
 */
export function currentAnnotations(
  deployment: Deployment,
  known: Annotations,
  revision: bigint,
): Annotations {
  const next: Record<string, string> = { ...known }
  for (const [name, value] of Object.entries(deployment.metadata.annotations ?? {})) {
    if (!ownAnnotations.has(name)) next[name] = value
  }
  const before = known[annotationNames.revision]
  const had = parseRevision(before || '0')
  if (had === undefined || had >= revision) return next
  next[annotationNames.revision] = String(revision)
  if (before) {
    const history = extendHistory(known[annotationNames.revisionHistory] ?? '', before)
    if (history !== undefined) next[annotationNames.revisionHistory] = history
  }
  return next
}

function extendHistory(history: string, revision: string): string | undefined {
  const entries = history === '' ? [revision] : [...history.split(','), revision]
  while (entries.length > 1 && entries.join(',').length > historyLengthMax) entries.shift()
  const text = entries.join(',')
  return text.length <= historyLengthMax ? text : undefined
}
