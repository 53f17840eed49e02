import {
  isStatusError,
  StatusError,
  type KubeObject,
  type Pod,
  type PodTemplateSpec,
} from '@skerry/api'
import { messageOf } from '@skerry/base'
import { keyOfObject, parseKey, resources } from '@skerry/client'
import { controllerReference, type ControllerContext } from '@skerry/controller-runtime'

/** Builds a pod from the template, owned by `owner`. The server completes the name. */
export function podFromTemplate(template: PodTemplateSpec, owner: KubeObject): Pod {
  const { labels, annotations, finalizers } = template.metadata ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      generateName: `${owner.metadata.name}-`,
      ...(owner.metadata.namespace ? { namespace: owner.metadata.namespace } : {}),
      ...(labels ? { labels: { ...labels } } : {}),
      ...(annotations ? { annotations: { ...annotations } } : {}),
      ...(finalizers ? { finalizers: [...finalizers] } : {}),
      ownerReferences: [controllerReference(owner)],
    },
    ...(template.spec ? { spec: structuredClone(template.spec) } : {}),
  }
}

export interface PodAction {
  context: ControllerContext
  owner: KubeObject
  pod: Pod
}

/**
 * Resolves to undefined if the namespace is being deleted: nothing can be created there, and that
 * is not an error.
 */
export async function createPod(
  { context, owner, pod }: PodAction,
  signal: AbortSignal,
): Promise<Pod | undefined> {
  try {
    const created = await context.client(resources.pods).create(pod, signal)
    context.events.event(owner, {
      type: 'Normal',
      reason: 'SuccessfulCreate',
      message: `Created pod: ${created.metadata.name}`,
    })
    return created
  } catch (error) {
    if (isNamespaceTerminating(error)) return undefined
    context.events.event(owner, {
      type: 'Warning',
      reason: 'FailedCreate',
      message: `Error creating: ${messageOf(error)}`,
    })
    throw error
  }
}

/** A pod that is gone already, or was replaced by another of its name, counts as deleted. */
export async function deletePod(
  { context, owner, pod }: PodAction,
  signal: AbortSignal,
): Promise<void> {
  const { uid, name } = pod.metadata
  try {
    await context
      .client(resources.pods)
      .delete({ ...parseKey(keyOfObject(pod)), ...(uid ? { preconditions: { uid } } : {}) }, signal)
  } catch (error) {
    if (isStatusError(error, 'NotFound') || isStatusError(error, 'Conflict')) return
    context.events.event(owner, {
      type: 'Warning',
      reason: 'FailedDelete',
      message: `Error deleting: ${messageOf(error)}`,
    })
    throw error
  }
  context.events.event(owner, {
    type: 'Normal',
    reason: 'SuccessfulDelete',
    message: `Deleted pod: ${name}`,
  })
}

export function isNamespaceTerminating(error: unknown): boolean {
  return (
    error instanceof StatusError &&
    error.details?.causes?.some((cause) => cause.reason === 'NamespaceTerminating') === true
  )
}

/**
 * Runs `count` creations in batches of 1, 2, 4, …: if all fail for one reason (quota, a bad image
 * name), one request finds out instead of hundreds. Throws the first failure; later batches are not
 * tried.
 */
export async function createInBatches(
  count: number,
  create: () => Promise<unknown>,
): Promise<void> {
  let remaining = count
  for (let batch = Math.min(1, remaining); batch > 0; batch = Math.min(2 * batch, remaining)) {
    const results = await Promise.allSettled(Array.from({ length: batch }, () => create()))
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) throw failure.reason
    remaining -= batch
  }
}
