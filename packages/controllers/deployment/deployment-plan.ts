import type { Deployment, DeploymentStatus, ReplicaSet } from '@skerry/api'
import { controllerReference } from '@skerry/controller-runtime'
import { canonicalText, podTemplateHashLabel, templateHash } from '../pods/pod-template.ts'
import {
  conditionOf,
  isComplete,
  pausedConditions,
  progressCheckAfterMs,
  progressDeadlineMs,
  setCondition,
  type Conditions,
} from './deployment-conditions.ts'
import { deploymentStatus } from './deployment-status.ts'
import { isScaling, planScaling } from './proportional-scaling.ts'
import {
  isActive,
  isRolling,
  replicasOf,
  revisionsOf,
  wantedReplicas,
  type Revisions,
  type ScaleStep,
} from './replica-sets.ts'
import {
  annotationNames,
  currentAnnotations,
  nextRevision,
  revisionOf,
  sizeAnnotations,
} from './revision-annotations.ts'
import { currentSize, planRolling } from './rolling-update.ts'

export interface DeploymentView {
  deployment: Deployment
  /** The replica sets that it controls. */
  replicaSets: readonly ReplicaSet[]
  /** True if pods of other replica sets than the current one may still run; for Recreate. */
  oldPodsRunning: boolean
  nowMs: number
}

export type DeploymentStep =
  /** Copies the deployment's annotations and minReadySeconds to the current replica set. */
  | { readonly type: 'annotate'; readonly replicaSet: ReplicaSet; readonly patch: object }
  | { readonly type: 'create'; readonly replicaSet: ReplicaSet }
  | { readonly type: 'scale'; readonly scale: readonly ScaleStep[] }
  | { readonly type: 'remove'; readonly replicaSets: readonly ReplicaSet[] }

export interface DeploymentPlan {
  readonly steps: readonly DeploymentStep[]
  readonly status: DeploymentStatus
  /** The revision to write on the deployment, where kubectl looks for it. Undefined if it is up to date. */
  readonly revision: string | undefined
  readonly requeueAfterMs: number | undefined
}

/** Plans one step. A pure function. The change that it causes triggers the next look. */
export function planDeployment(view: DeploymentView): DeploymentPlan {
  const { deployment, nowMs } = view
  const revisions = revisionsOf(deployment, view.replicaSets)
  const isGoing = deployment.metadata.deletionTimestamp !== undefined
  const isRollout = !isGoing && !deployment.spec?.paused && !isScaling(deployment, revisions)
  const conditions = isGoing
    ? (deployment.status?.conditions ?? [])
    : foundConditions(deployment, revisions, nowMs)
  const status = deploymentStatus({ deployment, revisions, conditions, isRollout, nowMs })
  return {
    steps: isGoing ? [] : planSteps(view, { revisions, isRollout }),
    status,
    revision: isGoing ? undefined : revisionToWrite(deployment, revisions),
    requeueAfterMs: isRollout ? progressCheckAfterMs(deployment, status, nowMs) : undefined,
  }
}

interface Situation {
  revisions: Revisions
  isRollout: boolean
}

function planSteps(view: DeploymentView, { revisions, isRollout }: Situation): DeploymentStep[] {
  const { deployment } = view
  const annotate = planAnnotations(deployment, revisions)
  if (annotate) return [annotate]
  if (isRollout) {
    return isRolling(deployment)
      ? planRollingSteps(deployment, revisions)
      : planRecreateSteps(view, revisions)
  }
  const scale = planScaling(deployment, revisions)
  const removals = deployment.spec?.paused ? planRemovals(deployment, revisions) : []
  return [...(scale.length > 0 ? [{ type: 'scale' as const, scale }] : []), ...removals]
}

/** Adds a condition when a deployment without progress finds its replica set for the first time. */
function foundConditions(
  deployment: Deployment,
  { current }: Revisions,
  nowMs: number,
): Conditions {
  const conditions = pausedConditions(deployment, nowMs)
  const isJudged = progressDeadlineMs(deployment) !== undefined
  if (!current || !isJudged || conditionOf(conditions, 'Progressing')) return conditions
  const message = `Found new replica set "${current.metadata.name}"`
  return setCondition(
    conditions,
    { type: 'Progressing', status: 'True', reason: 'FoundNewReplicaSet', message },
    nowMs,
  )
}

function planAnnotations(
  deployment: Deployment,
  { current, old }: Revisions,
): DeploymentStep | undefined {
  if (!current) return undefined
  const known = current.metadata.annotations ?? {}
  const annotations = currentAnnotations(deployment, known, nextRevision(old))
  const minReadySeconds = deployment.spec?.minReadySeconds ?? 0
  const isSame =
    canonicalText(known) === canonicalText(annotations) &&
    (current.spec?.minReadySeconds ?? 0) === minReadySeconds
  if (isSame) return undefined
  const patch = { metadata: { annotations }, spec: { minReadySeconds } }
  return { type: 'annotate', replicaSet: current, patch }
}

function revisionToWrite(deployment: Deployment, { current }: Revisions): string | undefined {
  const revision = current?.metadata.annotations?.[annotationNames.revision]
  const known = deployment.metadata.annotations?.[annotationNames.revision]
  return revision === known ? undefined : revision
}

function planRollingSteps(deployment: Deployment, revisions: Revisions): DeploymentStep[] {
  if (!revisions.current) return [planCreation(deployment, revisions)]
  const scale = planRolling(deployment, revisions)
  if (scale.length > 0) return [{ type: 'scale', scale }]
  return planRemovalsWhenComplete(deployment, revisions)
}

/** Removes everything old before anything new is created. */
function planRecreateSteps(
  { deployment, oldPodsRunning }: DeploymentView,
  revisions: Revisions,
): DeploymentStep[] {
  const active = revisions.old.filter(isActive)
  if (active.length > 0) {
    return [{ type: 'scale', scale: active.map((replicaSet) => ({ replicaSet, replicas: 0 })) }]
  }
  const hasOldReplicas = revisions.old.some(({ status }) => (status?.replicas ?? 0) > 0)
  if (oldPodsRunning || hasOldReplicas) return []
  const { current } = revisions
  if (!current) return [planCreation(deployment, revisions)]
  const replicas = wantedReplicas(deployment)
  if (replicasOf(current) !== replicas) {
    return [{ type: 'scale', scale: [{ replicaSet: current, replicas }] }]
  }
  return planRemovalsWhenComplete(deployment, revisions)
}

function planRemovalsWhenComplete(deployment: Deployment, revisions: Revisions): DeploymentStep[] {
  const isDone = isComplete(deployment, deployment.status ?? {})
  return isDone ? planRemovals(deployment, revisions) : []
}

/** Removes old revisions beyond the history limit, the lowest first, except those that have or want pods. */
function planRemovals(deployment: Deployment, { old }: Revisions): DeploymentStep[] {
  const limit = deployment.spec?.revisionHistoryLimit
  if (limit === undefined || limit === 2_147_483_647) return []
  const alive = old.filter(({ metadata }) => metadata.deletionTimestamp === undefined)
  const replicaSets = alive
    .toSorted((a, b) =>
      revisionOf(a) < revisionOf(b) ? -1 : revisionOf(a) > revisionOf(b) ? 1 : 0,
    )
    .slice(0, Math.max(0, alive.length - limit))
    .filter(
      (each) =>
        replicasOf(each) === 0 &&
        (each.status?.replicas ?? 0) === 0 &&
        (each.metadata.generation ?? 0) <= (each.status?.observedGeneration ?? 0),
    )
  return replicaSets.length > 0 ? [{ type: 'remove', replicaSets }] : []
}

/** The name contains the template's hash, so that the same template cannot get two replica sets. */
function planCreation(deployment: Deployment, revisions: Revisions): DeploymentStep {
  const spec = deployment.spec
  const template = spec?.template ?? {}
  const hash = templateHash(template, deployment.status?.collisionCount)
  const labels = { ...template.metadata?.labels, [podTemplateHashLabel]: hash }
  const selector = {
    ...spec?.selector,
    matchLabels: { ...spec?.selector.matchLabels, [podTemplateHashLabel]: hash },
  }
  const annotations = {
    ...currentAnnotations(deployment, {}, nextRevision(revisions.old)),
    ...sizeAnnotations(deployment),
  }
  const { namespace } = deployment.metadata
  const replicas = isRolling(deployment)
    ? currentSize(deployment, revisions)
    : wantedReplicas(deployment)
  return {
    type: 'create',
    replicaSet: {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        name: replicaSetName(deployment.metadata.name ?? '', hash),
        ...(namespace ? { namespace } : {}),
        ownerReferences: [controllerReference(deployment)],
        labels,
        annotations,
      },
      spec: {
        replicas,
        minReadySeconds: spec?.minReadySeconds ?? 0,
        selector,
        template: { ...template, metadata: { ...template.metadata, labels } },
      },
    },
  }
}

/** A DNS subdomain has at most 253 characters. */
function replicaSetName(deploymentName: string, hash: string): string {
  return `${deploymentName.slice(0, 253 - 1 - hash.length)}-${hash}`
}
