import {
  StatusError,
  fieldNotSupported,
  fieldRequired,
  type AnyObject,
  type Binding,
  type Pod,
} from '@skerry/api'
import type { Clock } from '@skerry/base'
import type { Objects } from '../contract/objects.ts'
import type { ReviewHandler } from '../contract/review.ts'
import { conflict, notFound, createdStatus } from '../contract/status-answers.ts'
import type { SubresourceHandler } from '../contract/subresource.ts'
import { typed } from '../contract/typed-objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { setPodCondition } from './pod-conditions.ts'

/** Serves pods/binding: a scheduler binds a pod to a node, once. */
export function createBindingHandler(clock: Clock): SubresourceHandler {
  return {
    async serve({ object, namespace, name, objects, isDryRun, admit, admitValid }) {
      if (!object) throw new StatusError('BadRequest', 'a Binding is required')
      await admit(object)
      if (object.metadata.name !== undefined && object.metadata.name !== name) {
        throw new StatusError('BadRequest', 'name in URL does not match name in Binding object')
      }
      checkTarget(typed<Binding>(object))
      await admitValid(object)
      await bind(objects, { binding: typed<Binding>(object), namespace, name, isDryRun }, clock)
      return { type: 'object', status: 201, object: createdStatus }
    },
  }
}

/** Serves POST to `bindings`, the form from before subresources existed. */
export function createLegacyBinding(objects: Objects, clock: Clock): ReviewHandler {
  return {
    async review({ object, namespace, isDryRun, admitValid }) {
      const binding = typed<Binding>(object)
      const { name = '' } = binding.metadata
      checkTarget(binding)
      await admitValid()
      await bind(objects, { binding, namespace, name, isDryRun }, clock)
      return createdStatus
    },
  }
}

interface BindRequest {
  readonly binding: Binding
  readonly namespace: string
  readonly name: string
  readonly isDryRun: boolean
}

function checkTarget({ target }: Binding): void {
  const causes = []
  if (target.kind && target.kind !== 'Node') {
    causes.push(fieldNotSupported('target.kind', target.kind, ['Node', '<empty>']))
  }
  if (!target.name) causes.push(fieldRequired('target.name'))
  if (causes.length === 0) return
  const texts = causes.map(({ field, message }) => `${field}: ${message}`)
  // Upstream does not give this refusal a reason of its own.
  const message = texts.length === 1 ? `${texts[0]}` : `[${texts.join(', ')}]`
  throw new StatusError('Unknown', message)
}

async function bind(objects: Objects, request: BindRequest, clock: Clock): Promise<void> {
  const { namespace, name } = request
  const change = (object: AnyObject): void => applyBinding(object, request, clock.now())
  if (!request.isDryRun) {
    await objects.update(wellKnown.pods, { namespace, name, subresource: 'binding' }, change)
    return
  }
  const found = objects.get(wellKnown.pods, namespace, name)
  if (!found) throw notFound(wellKnown.pods, name)
  change(structuredClone(found))
}

function applyBinding(object: AnyObject, { binding }: BindRequest, nowMs: number): void {
  const pod = typed<Pod>(object)
  const unmet = unmetPrecondition(pod, binding)
  if (unmet !== undefined) throw conflict(wellKnown.pods, pod.metadata.name ?? '', unmet)
  const problem = bindingProblem(pod)
  if (problem !== undefined) {
    throw conflict({ group: '', resource: 'pods/binding' }, pod.metadata.name ?? '', problem)
  }
  if (!pod.spec) return
  pod.spec.nodeName = binding.target.name ?? ''
  const { annotations, labels } = binding.metadata
  if (annotations) pod.metadata.annotations = { ...pod.metadata.annotations, ...annotations }
  if (labels) pod.metadata.labels = { ...pod.metadata.labels, ...labels }
  pod.status ??= {}
  delete pod.status.nominatedNodeName
  setPodCondition(pod.status, { type: 'PodScheduled', status: 'True' }, nowMs)
}

/** Upstream's storage reports this, with the pod's key there. */
function unmetPrecondition({ metadata }: Pod, binding: Binding): string | undefined {
  const key = `/registry/pods/${metadata.namespace}/${metadata.name}`
  const start = `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed:`
  const { uid, resourceVersion } = binding.metadata
  if (uid && uid !== metadata.uid) {
    return `${start} UID in precondition: ${uid}, UID in object meta: ${metadata.uid}`
  }
  if (resourceVersion && resourceVersion !== metadata.resourceVersion) {
    return `${start} ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata.resourceVersion}`
  }
  return undefined
}

/** Returns why this pod cannot be bound, in upstream's words. A pure function. */
function bindingProblem({ metadata, spec }: Pod): string | undefined {
  if (metadata.deletionTimestamp !== undefined) {
    return `pod ${metadata.name} is being deleted, cannot be assigned to a host`
  }
  if (spec?.nodeName) {
    return `pod ${metadata.name} is already assigned to node ${JSON.stringify(spec.nodeName)}`
  }
  if (spec?.schedulingGates?.length) {
    return `pod ${metadata.name} has non-empty .spec.schedulingGates`
  }
  return undefined
}
