import { isDeepStrictEqual } from 'node:util'
import type { Namespace, Pod, PodTemplateSpec } from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { invalid } from '../registry/registry-errors.ts'
import { getTyped, listTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { findViolations } from './pod-security/check-table.ts'
import { existingPodsWarnings } from './pod-security/existing-pods.ts'
import {
  isStricter,
  labelPrefix,
  labelProblems,
  levelText,
  policyOf,
  type LevelVersion,
} from './pod-security/namespace-policy.ts'
import type { PodUnderCheck } from './pod-security/pod-under-check.ts'
import { refuse } from '../admission-matching/refusal.ts'

/** The path of the pod template in each kind that creates pods. */
const templatePaths: Readonly<Record<string, readonly string[]>> = Object.freeze({
  '/replicationcontrollers': ['spec', 'template'],
  '/podtemplates': ['template'],
  'apps/deployments': ['spec', 'template'],
  'apps/replicasets': ['spec', 'template'],
  'apps/statefulsets': ['spec', 'template'],
  'apps/daemonsets': ['spec', 'template'],
  'batch/jobs': ['spec', 'template'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
})

/** Holds pods to the level that their namespace's labels set; templates only get warnings. */
export function createPodSecurity({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'PodSecurity',
    handles: (request) => isChecked(request),
    async validate(request) {
      if (isResource(request.resource, wellKnown.namespaces)) {
        checkLabels(request)
        warnOfPods(request, objects)
        return
      }
      const namespace = getTyped<Namespace>(objects, wellKnown.namespaces, {
        name: request.namespace,
      })
      const pod = podOf(request)
      if (namespace && pod && !isUnchanged(request)) judge(request, namespace, pod)
    },
  }
}

function isChecked({ resource, subresource, operation, object }: AdmissionRequest): boolean {
  if (!object || (operation !== 'CREATE' && operation !== 'UPDATE')) return false
  if (isResource(resource, wellKnown.pods)) {
    return subresource === '' || subresource === 'ephemeralcontainers'
  }
  if (subresource === '' && isResource(resource, wellKnown.namespaces)) return true
  return subresource === '' && templatePaths[`${resource.group}/${resource.resource}`] !== undefined
}

/** A namespace that got invalid labels earlier may keep them. */
function checkLabels({ object, oldObject, name }: AdmissionRequest): void {
  const causes = object ? labelProblems(object) : []
  if (causes.length === 0 || (oldObject && isDeepStrictEqual(causes, labelProblems(oldObject)))) {
    return
  }
  throw invalid({ kind: 'Namespace', group: '', resource: 'namespaces' }, name, causes)
}

function warnOfPods(
  { object, oldObject, subresource, name, warn }: AdmissionRequest,
  objects: Objects,
) {
  if (!object || !oldObject || subresource !== '') return
  const [next, old] = [policyOf(object).enforce, policyOf(oldObject).enforce]
  if (next.level === 'privileged') return
  if (next.minor === old.minor && !isStricter(next, old)) return
  const pods = listTyped<Pod>(objects, wellKnown.pods, name)
  for (const text of existingPodsWarnings(name, next, pods)) warn(text)
}

function judge(request: AdmissionRequest, namespace: Namespace, pod: PodUnderCheck): void {
  const { enforce, audit, warn } = policyOf(namespace)
  const isPod = isResource(request.resource, wellKnown.pods)
  if (isPod) request.annotate(`${labelPrefix}enforce-policy`, levelText(enforce))
  const audited = problemsAt(audit, pod)
  if (audited !== '')
    request.annotate(`${labelPrefix}audit-violations`, wouldViolate(audit, audited))
  const denial = isPod ? problemsAt(enforce, pod) : ''
  if (denial !== '') {
    throw refuse(request, `violates PodSecurity "${levelText(enforce)}": ${denial}`)
  }
  const warned = problemsAt(warn, pod)
  if (warned !== '') request.warn(wouldViolate(warn, warned))
}

function wouldViolate(level: LevelVersion, problems: string): string {
  return `would violate PodSecurity "${levelText(level)}": ${problems}`
}

function problemsAt(level: LevelVersion, pod: PodUnderCheck): string {
  return findViolations(level, pod)
    .map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`))
    .join(', ')
}

function podOf({ resource, object }: AdmissionRequest): PodUnderCheck | undefined {
  if (!object) return undefined
  if (isResource(resource, wellKnown.pods)) return underCheck(typed<Pod>(object))
  let found: unknown = object
  for (const key of templatePaths[`${resource.group}/${resource.resource}`] ?? []) {
    // Any object may be read by name; anything else ends the search.
    found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined
  }
  // The paths of the table lead to a PodTemplateSpec in the schema of their kinds.
  return found === undefined ? undefined : underCheck(found as PodTemplateSpec)
}

function underCheck({ metadata = {}, spec }: PodTemplateSpec): PodUnderCheck | undefined {
  return spec && { annotations: metadata.annotations ?? {}, spec }
}

/**
 * An update of a pod is checked only if it changes an image or adds a container: no other permitted
 * change could make it less secure. Templates are checked with each write.
 */
function isUnchanged({ resource, operation, object, oldObject }: AdmissionRequest): boolean {
  if (operation !== 'UPDATE' || !object || !oldObject) return false
  if (!isResource(resource, wellKnown.pods)) return false
  const [next, old] = [imagesOf(typed<Pod>(object)), imagesOf(typed<Pod>(oldObject))]
  return isDeepStrictEqual(next, old)
}

function imagesOf({ spec }: Pod): unknown {
  const { containers, initContainers = [], ephemeralContainers = [] } = spec ?? {}
  return [containers ?? [], initContainers, ephemeralContainers].map((list) =>
    list.map(({ name, image }) => ({ name, image })),
  )
}
