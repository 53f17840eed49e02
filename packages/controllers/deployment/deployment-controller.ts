import {
  isStatusError,
  labelSelectorOf,
  type Deployment,
  type DeploymentStatus,
  type Pod,
  type ReplicaSet,
} from '@skerry/api'
import { messageOf } from '@skerry/base'
import { keyOfObject, parseKey, resources, type Change } from '@skerry/client'
import {
  byControllerUid,
  claimOwned,
  controllerOf,
  controllerUidIndex,
  isControlledBy,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { ignoreNotFound } from '../reconcile/ignore-not-found.ts'
import { isNamespaceTerminating } from '../pods/pod-actions.ts'
import { sameTemplate } from '../pods/pod-template.ts'
import { isPodFinished } from '../pods/pod-state.ts'
import { sameStatus } from '../status/same-status.ts'
import { progressDeadlineMs, setCondition } from './deployment-conditions.ts'
import { planDeployment, type DeploymentPlan, type DeploymentStep } from './deployment-plan.ts'
import { isRolling, replicasOf, revisionsOf, type ScaleStep } from './replica-sets.ts'
import { annotationNames, sizeAnnotations } from './revision-annotations.ts'

/** Rolls out a Deployment's template through replica sets. */
export const deploymentController: ControllerDefinition = {
  name: 'deployment-controller',
  watches: [
    watch(resources.deployments, { keysOf: ({ object }) => [keyOfObject(object)] }),
    watch(resources.replicaSets, {
      keysOf: deploymentsOfReplicaSet,
      indexes: { [byControllerUid]: controllerUidIndex },
    }),
    watch(resources.pods, {
      keysOf: deploymentsOfPod,
      indexes: { [byControllerUid]: controllerUidIndex },
    }),
  ],
  reconcile,
}

function deploymentsOfReplicaSet(
  change: Change<ReplicaSet>,
  context: ControllerContext,
): readonly string[] {
  const keys = new Set<string>()
  for (const replicaSet of [change.old, change.object]) {
    const owner = replicaSet && controllerOf(replicaSet)
    if (owner?.kind === 'Deployment') keys.add(`${change.object.metadata.namespace}/${owner.name}`)
  }
  const { metadata } = change.object
  if (change.type === 'deleted' || controllerOf(change.object)) return [...keys]
  for (const deployment of context.informer(resources.deployments).list(metadata.namespace)) {
    if (labelSelectorOf(deployment.spec?.selector).matches(metadata.labels)) {
      keys.add(keyOfObject(deployment))
    }
  }
  return [...keys]
}

/** Only Recreate waits for single pods, until the last old one is gone. */
function deploymentsOfPod(change: Change<Pod>, context: ControllerContext): readonly string[] {
  const { object } = change
  const owner = controllerOf(object)
  if (owner?.kind !== 'ReplicaSet') return []
  if (change.type !== 'deleted' && !isPodFinished(object)) return []
  const { namespace = '' } = object.metadata
  const replicaSet = context.informer(resources.replicaSets).get({ namespace, name: owner.name })
  const grandparent = replicaSet && controllerOf(replicaSet)
  if (grandparent?.kind !== 'Deployment') return []
  const key = { namespace, name: grandparent.name }
  const deployment = context.informer(resources.deployments).get(key)
  return deployment && !isRolling(deployment) ? [keyOfObject(deployment)] : []
}

async function reconcile(
  key: string,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReconcileResult | void> {
  const deployment = context.informer(resources.deployments).get(parseKey(key))
  if (!deployment) return
  if (labelSelectorOf(deployment.spec?.selector).isEmpty) {
    const message = 'This deployment is selecting all pods. A non-empty selector is required.'
    return context.events.event(deployment, { type: 'Warning', reason: 'SelectingAll', message })
  }
  const replicaSets = await claimReplicaSets(deployment, context, signal)
  const plan = planDeployment({
    deployment,
    replicaSets,
    oldPodsRunning: areOldPodsRunning(deployment, replicaSets, context),
    nowMs: context.clock.now(),
  })
  let status = plan.status
  for (const step of plan.steps) {
    status = (await take(step, { deployment, status }, context, signal)) ?? status
  }
  await writeStatus(deployment, { status, revision: plan.revision }, context, signal)
  return resultOf(plan)
}

function resultOf({ requeueAfterMs }: DeploymentPlan): ReconcileResult | undefined {
  return requeueAfterMs === undefined ? undefined : { requeueAfterMs }
}

async function claimReplicaSets(
  deployment: Deployment,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<ReplicaSet[]> {
  const claim = {
    owner: deployment,
    owners: context.cluster.resource(resources.deployments),
    selector: labelSelectorOf(deployment.spec?.selector),
    resource: resources.replicaSets,
  }
  return claimOwned(claim, context, signal)
}

function areOldPodsRunning(
  deployment: Deployment,
  replicaSets: readonly ReplicaSet[],
  context: ControllerContext,
): boolean {
  if (isRolling(deployment)) return false
  const { current } = revisionsOf(deployment, replicaSets)
  const pods = context.informer(resources.pods)
  return replicaSets
    .filter((each) => each !== current)
    .flatMap(({ metadata }) => pods.byIndex(byControllerUid, metadata.uid ?? ''))
    .some((pod) => !isPodFinished(pod))
}

interface Acting {
  deployment: Deployment
  status: DeploymentStatus
}

/** Returns the status if the step changes it. */
async function take(
  step: DeploymentStep,
  { deployment, status }: Acting,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<DeploymentStatus | void> {
  switch (step.type) {
    case 'annotate':
      return patchReplicaSet(step.replicaSet, step.patch, context, signal)
    case 'create':
      return create({ replicaSet: step.replicaSet, deployment, status }, context, signal)
    case 'scale':
      for (const each of step.scale) await scale(deployment, each, context, signal)
      return
    case 'remove':
      for (const each of step.replicaSets) {
        const key = parseKey(keyOfObject(each))
        await ignoreNotFound(context.client(resources.replicaSets).delete(key, signal))
      }
  }
}

async function patchReplicaSet(
  replicaSet: ReplicaSet,
  patch: object,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { resourceVersion } = replicaSet.metadata
  const metadata: unknown = Reflect.get(patch, 'metadata')
  const guarded = { ...patch, metadata: { ...Object(metadata), resourceVersion } }
  const request = { ...parseKey(keyOfObject(replicaSet)), type: 'merge' as const, patch: guarded }
  await context.client(resources.replicaSets).patch(request, signal)
}

async function scale(
  deployment: Deployment,
  { replicaSet, replicas }: ScaleStep,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const before = replicasOf(replicaSet)
  const annotations = sizeAnnotations(deployment)
  const known = replicaSet.metadata.annotations ?? {}
  const isSame = Object.entries(annotations).every(([name, value]) => known[name] === value)
  if (before === replicas && isSame) return
  await patchReplicaSet(
    replicaSet,
    { metadata: { annotations }, spec: { replicas } },
    context,
    signal,
  )
  if (before !== replicas) reportScaling(deployment, { replicaSet, before, replicas }, context)
}

function reportScaling(
  deployment: Deployment,
  { replicaSet, before, replicas }: ScaleStep & { before: number },
  context: ControllerContext,
): void {
  const direction = before < replicas ? 'up' : 'down'
  const { name } = replicaSet.metadata
  context.events.event(deployment, {
    type: 'Normal',
    reason: 'ScalingReplicaSet',
    message: `Scaled ${direction} replica set ${name} from ${before} to ${replicas}`,
  })
}

interface Creating extends Acting {
  replicaSet: ReplicaSet
}

async function create(
  { replicaSet, deployment, status }: Creating,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<DeploymentStatus | void> {
  try {
    await context.client(resources.replicaSets).create(replicaSet, signal)
  } catch (error) {
    if (isStatusError(error, 'AlreadyExists')) {
      return onExisting({ replicaSet, deployment, status }, context, signal)
    }
    if (!isNamespaceTerminating(error))
      await onCreateFailed({ replicaSet, deployment, status, error }, context, signal)
    throw error
  }
  const replicas = replicasOf(replicaSet)
  if (replicas > 0) reportScaling(deployment, { replicaSet, before: 0, replicas }, context)
  const message = `Created new replica set "${replicaSet.metadata.name}"`
  return withProgress(
    { deployment, status },
    { status: 'True', reason: 'NewReplicaSetCreated', message },
    context,
  )
}

/** It is ours after all, and the informer will deliver it; or another template has the same hash. */
async function onExisting(
  { replicaSet, deployment, status }: Creating,
  context: ControllerContext,
  signal: AbortSignal,
): Promise<DeploymentStatus | void> {
  const key = parseKey(keyOfObject(replicaSet))
  const found = await context.cluster.resource(resources.replicaSets).get(key, signal)
  const isOurs = isControlledBy(found, deployment)
  if (isOurs && sameTemplate(found.spec?.template, deployment.spec?.template)) {
    context.informer(resources.replicaSets).recordWrite(found)
    return
  }
  return { ...status, collisionCount: (status.collisionCount ?? 0) + 1 }
}

async function onCreateFailed(
  input: Creating & { error: unknown },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  const { deployment, replicaSet, error } = input
  const reason = 'ReplicaSetCreateError'
  const message = `Failed to create new replica set "${replicaSet.metadata.name}": ${messageOf(error)}`
  const status = withProgress(input, { status: 'False', reason, message }, context)
  await writeStatus(deployment, { status, revision: undefined }, context, signal)
  context.events.event(deployment, { type: 'Warning', reason, message })
}

function withProgress(
  { deployment, status }: Acting,
  text: { status: 'True' | 'False'; reason: string; message: string },
  context: ControllerContext,
): DeploymentStatus {
  if (progressDeadlineMs(deployment) === undefined) return status
  const condition = { type: 'Progressing' as const, ...text }
  const conditions = setCondition(status.conditions ?? [], condition, context.clock.now())
  return { ...status, conditions: [...conditions] }
}

/**
 * The revision is written together with the status: written separately, as a change of annotations,
 * it would count as a new generation.
 */
async function writeStatus(
  deployment: Deployment,
  { status, revision }: { status: DeploymentStatus; revision: string | undefined },
  context: ControllerContext,
  signal: AbortSignal,
): Promise<void> {
  if (sameStatus(deployment.status, status) && revision === undefined) return
  const annotations = {
    ...deployment.metadata.annotations,
    ...(revision === undefined ? {} : { [annotationNames.revision]: revision }),
  }
  const next = { ...deployment, metadata: { ...deployment.metadata, annotations }, status }
  await context.client(resources.deployments).updateStatus(next, signal)
}
