import { isDeepStrictEqual } from 'node:util'
import { fieldForbidden, type Container, type Pod, type StatusCause } from '@skerry/api'
import type { AdmissionPlugin } from '../contract/admission.ts'
import { invalidObject } from '../contract/status-answers.ts'
import { typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'

type Rule = (next: Pod, old: Pod) => StatusCause[]

/** The rules for writes to a subresource of a pod that is already running. */
const rules: Readonly<Record<string, Rule>> = Object.freeze({
  ephemeralcontainers: ephemeralContainerCauses,
  resize: resizeCauses,
})

/**
 * Upstream checks this in its registry; the generic registry here knows the subresources but not
 * their rules.
 */
export function createPodPartRules(): AdmissionPlugin {
  return {
    name: 'PodPartRules',
    handles: ({ resource, subresource, operation }) =>
      isResource(resource, wellKnown.pods) &&
      operation === 'UPDATE' &&
      rules[subresource] !== undefined,
    async validate({ object, oldObject, subresource, name }) {
      const rule = rules[subresource]
      if (!object || !oldObject || !rule) return
      const causes = rule(typed<Pod>(object), typed<Pod>(oldObject))
      if (causes.length > 0) throw invalidObject({ group: '', kind: 'Pod' }, name, causes)
    },
  }
}

/** Ephemeral containers may be added for debugging, but never removed. */
function ephemeralContainerCauses(next: Pod, old: Pod): StatusCause[] {
  const after = next.spec?.ephemeralContainers ?? []
  return (old.spec?.ephemeralContainers ?? []).flatMap((container) => {
    const found = after.find(({ name }) => name === container.name)
    if (isDeepStrictEqual(found, container)) return []
    const verb = found ? 'changed' : 'removed'
    const message = `existing ephemeral containers ${JSON.stringify(container.name)} may not be ${verb}\n`
    return [fieldForbidden('spec.ephemeralContainers', message)]
  })
}

function resizeCauses(next: Pod, old: Pod): StatusCause[] {
  const lists = ['containers', 'initContainers'] as const
  return lists.flatMap((list) =>
    (next.spec?.[list] ?? []).flatMap((container, index) => {
      const before = old.spec?.[list]?.find(({ name }) => name === container.name)
      if (isDeepStrictEqual(fixedAmounts(container), fixedAmounts(before))) return []
      const field = `spec.${list}[${index}].resources`
      return [fieldForbidden(field, 'only cpu and memory resources are mutable')]
    }),
  )
}

function fixedAmounts(container: Container | undefined): unknown {
  const { requests = {}, limits = {} } = container?.resources ?? {}
  const fixed = (list: Record<string, string>) =>
    Object.entries(list).filter(([name]) => name !== 'cpu' && name !== 'memory')
  return [fixed(requests), fixed(limits)]
}
