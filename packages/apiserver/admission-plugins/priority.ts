import type { Pod, PriorityClass } from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { getTyped, listTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

/** Turns a pod's priority class into the number that the scheduler compares. */
export function createPriority({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'Priority',
    handles: ({ resource, subresource, operation }) =>
      subresource === '' &&
      (operation === 'CREATE' || operation === 'UPDATE') &&
      (isResource(resource, wellKnown.pods) || isResource(resource, wellKnown.priorityClasses)),
    async admit(request) {
      if (!request.object || !isResource(request.resource, wellKnown.pods)) return
      const { spec } = typed<Pod>(request.object)
      if (!spec) return
      if (request.operation === 'CREATE') return setPriority(request, spec, objects)
      const old = request.oldObject && typed<Pod>(request.oldObject).spec
      if (old?.priority !== undefined) spec.priority ??= old.priority
      if (old?.preemptionPolicy !== undefined) spec.preemptionPolicy ??= old.preemptionPolicy
    },
    async validate(request) {
      if (!request.object || !isResource(request.resource, wellKnown.priorityClasses)) return
      const wanted = typed<PriorityClass>(request.object)
      const present = wanted.globalDefault ? defaultClass(objects) : undefined
      if (!present || present.metadata.name === wanted.metadata.name) return
      throw refuse(
        request,
        `PriorityClass ${present.metadata.name} is already marked as default. Only one default can exist`,
      )
    },
  }
}

function setPriority(
  request: AdmissionRequest,
  spec: NonNullable<Pod['spec']>,
  objects: Objects,
): void {
  const chosen = chooseClass(request, spec.priorityClassName ?? '', objects)
  const value = chosen?.value ?? 0
  const preemptionPolicy = chosen ? chosen.preemptionPolicy : 'PreemptLowerPriority'
  if (spec.priority !== undefined && spec.priority !== value) {
    throw refuse(
      request,
      `the integer value of priority (${spec.priority}) must not be provided in pod spec; priority admission controller computed ${value} from the given PriorityClass name`,
    )
  }
  if (chosen?.metadata.name) spec.priorityClassName = chosen.metadata.name
  spec.priority = value
  if (preemptionPolicy === undefined) return
  if (spec.preemptionPolicy !== undefined && spec.preemptionPolicy !== preemptionPolicy) {
    throw refuse(
      request,
      `the string value of PreemptionPolicy (${spec.preemptionPolicy}) must not be provided in pod spec; priority admission controller computed ${preemptionPolicy} from the given PriorityClass name`,
    )
  }
  spec.preemptionPolicy = preemptionPolicy
}

function chooseClass(
  request: AdmissionRequest,
  name: string,
  objects: Objects,
): PriorityClass | undefined {
  if (name === '') return defaultClass(objects)
  const found = getTyped<PriorityClass>(objects, wellKnown.priorityClasses, { name })
  if (!found) throw refuse(request, `no PriorityClass with name ${name} was found`)
  return found
}

/** If a race has created two, the lower one. */
function defaultClass(objects: Objects): PriorityClass | undefined {
  return listTyped<PriorityClass>(objects, wellKnown.priorityClasses)
    .filter((candidate) => candidate.globalDefault)
    .toSorted((a, b) => (a.value ?? 0) - (b.value ?? 0))[0]
}
