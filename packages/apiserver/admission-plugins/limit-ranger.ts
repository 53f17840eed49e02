import {
  isAbove,
  podResources,
  quantityToFloat,
  type Container,
  type LimitRange,
  type LimitRangeItem,
  type PersistentVolumeClaim,
  type Pod,
  type PodSpec,
  type ResourceList,
} from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { listTyped, typed } from '../contract/typed-objects.ts'
import { isResource, wellKnown } from '../contract/well-known-resources.ts'
import type { PluginDeps } from '../webhooks/plugin-deps.ts'
import { refuse } from '../admission-matching/refusal.ts'

const annotation = 'kubernetes.io/limit-ranger'

/** Fills in missing requests and limits of containers and enforces a namespace's bounds. */
export function createLimitRanger({ objects }: PluginDeps): AdmissionPlugin {
  return {
    name: 'LimitRanger',
    handles: isLimited,
    async admit(request) {
      if (!request.object || !isResource(request.resource, wellKnown.pods)) return
      for (const range of rangesFor(request, objects)) {
        setDefaults(typed<Pod>(request.object), range.spec?.limits ?? [])
      }
    },
    async validate(request) {
      for (const range of rangesFor(request, objects)) {
        const problems = problemsOf(request, range.spec?.limits ?? [])
        if (problems.length === 0) continue
        const text = problems.length === 1 ? `${problems[0]}` : `[${problems.join(', ')}]`
        throw refuse(request, text)
      }
    },
  }
}

/** Containers cannot change after creation, except by resizing. */
function isLimited({ resource, subresource, operation, object }: AdmissionRequest): boolean {
  if (!object) return false
  if (isResource(resource, wellKnown.pods)) {
    if (subresource === 'resize') return operation === 'UPDATE'
    return subresource === '' && operation === 'CREATE'
  }
  const isWrite = operation === 'CREATE' || operation === 'UPDATE'
  return isResource(resource, wellKnown.persistentVolumeClaims) && subresource === '' && isWrite
}

function rangesFor({ namespace, oldObject }: AdmissionRequest, objects: Objects): LimitRange[] {
  if (oldObject?.metadata.deletionTimestamp !== undefined) return []
  return listTyped<LimitRange>(objects, wellKnown.limitRanges, namespace)
}

function setDefaults(pod: Pod, limits: readonly LimitRangeItem[]): void {
  const ofContainers = limits.filter(({ type }) => type === 'Container')
  const requests: ResourceList = Object.assign(
    {},
    ...ofContainers.map((item) => item.defaultRequest ?? {}),
  )
  const limitValues: ResourceList = Object.assign(
    {},
    ...ofContainers.map((item) => item.default ?? {}),
  )
  const notes = [
    ...(pod.spec?.containers ?? []).flatMap((container) =>
      fill(container, 'container', { requests, limits: limitValues }),
    ),
    ...(pod.spec?.initContainers ?? []).flatMap((container) =>
      fill(container, 'init container', { requests, limits: limitValues }),
    ),
  ]
  if (notes.length === 0) return
  const text = `LimitRanger plugin set: ${notes.join('; ')}`
  pod.metadata.annotations = { ...pod.metadata.annotations, [annotation]: text }
}

interface Defaults {
  readonly requests: ResourceList
  readonly limits: ResourceList
}

/** Fills in the missing requests and limits, and returns notes that describe them. */
function fill(container: Container, word: string, defaults: Defaults): string[] {
  const notes: string[] = []
  const resources = { ...container.resources }
  for (const list of ['requests', 'limits'] as const) {
    const present = resources[list] ?? {}
    const missing = Object.keys(defaults[list]).filter((name) => present[name] === undefined)
    if (missing.length === 0) continue
    resources[list] = { ...defaults[list], ...present }
    const noun = list === 'requests' ? 'request' : 'limit'
    notes.push(`${missing.toSorted().join(', ')} ${noun} for ${word} ${container.name}`)
  }
  if (notes.length > 0) container.resources = resources
  return notes
}

/** Something that the bounds apply to: a container, a pod or a claim. */
interface Measured {
  readonly requests: ResourceList
  readonly limits: ResourceList
}

function problemsOf(request: AdmissionRequest, limits: readonly LimitRangeItem[]): string[] {
  if (!request.object) return []
  if (isResource(request.resource, wellKnown.persistentVolumeClaims)) {
    const requests = typed<PersistentVolumeClaim>(request.object).spec?.resources?.requests ?? {}
    return limits
      .filter(({ type }) => type === 'PersistentVolumeClaim')
      .flatMap((item) => claimProblems(item, requests))
  }
  const { spec } = typed<Pod>(request.object)
  return spec ? limits.flatMap((item) => podProblems(item, spec)) : []
}

function podProblems(item: LimitRangeItem, spec: PodSpec): string[] {
  if (item.type === 'Container') {
    return [...(spec.containers ?? []), ...(spec.initContainers ?? [])].flatMap(({ resources }) =>
      boundProblems(item, { requests: resources?.requests ?? {}, limits: resources?.limits ?? {} }),
    )
  }
  if (item.type !== 'Pod') return []
  return boundProblems(item, {
    requests: podResources(spec, 'requests'),
    limits: podResources(spec, 'limits'),
  })
}

function claimProblems(item: LimitRangeItem, requests: ResourceList): string[] {
  const below = entries(item.min).flatMap(([name, min]) =>
    minProblem({ type: item.type, name, bound: min }, { requests, limits: {} }),
  )
  const above = entries(item.max).flatMap(([name, max]) => {
    const said = `maximum ${name} usage per ${item.type} is ${max}`
    const asked = requests[name]
    if (asked === undefined) return [`${said}.  No request is specified`]
    return isAbove(asked, max) ? [`${said}, but request is ${asked}`] : []
  })
  return [...below, ...above]
}

function boundProblems(item: LimitRangeItem, measured: Measured): string[] {
  const { type } = item
  return [
    ...entries(item.min).flatMap(([name, bound]) => minProblem({ type, name, bound }, measured)),
    ...entries(item.max).flatMap(([name, bound]) => maxProblem({ type, name, bound }, measured)),
    ...entries(item.maxLimitRequestRatio).flatMap(([name, bound]) =>
      ratioProblem({ type, name, bound }, measured),
    ),
  ]
}

interface Bound {
  readonly type: string
  readonly name: string
  readonly bound: string
}

function minProblem({ type, name, bound }: Bound, { requests, limits }: Measured): string[] {
  const said = `minimum ${name} usage per ${type} is ${bound}`
  const asked = requests[name]
  const limit = limits[name]
  if (asked === undefined) return [`${said}.  No request is specified`]
  if (isAbove(bound, asked)) return [`${said}, but request is ${asked}`]
  return limit !== undefined && isAbove(bound, limit) ? [`${said}, but limit is ${limit}`] : []
}

function maxProblem({ type, name, bound }: Bound, { requests, limits }: Measured): string[] {
  const said = `maximum ${name} usage per ${type} is ${bound}`
  const asked = requests[name]
  const limit = limits[name]
  if (limit === undefined) return [`${said}.  No limit is specified`]
  if (isAbove(limit, bound)) return [`${said}, but limit is ${limit}`]
  return asked !== undefined && isAbove(asked, bound) ? [`${said}, but request is ${asked}`] : []
}

function ratioProblem({ type, name, bound }: Bound, { requests, limits }: Measured): string[] {
  const said = `${name} max limit to request ratio per ${type} is ${bound}`
  const asked = quantityToFloat(requests[name] ?? '0')
  const limit = quantityToFloat(limits[name] ?? '0')
  if (asked === 0) return [`${said}, but no request is specified or request is 0`]
  if (limit === 0) return [`${said}, but no limit is specified or limit is 0`]
  const ratio = limit / asked
  return ratio > quantityToFloat(bound)
    ? [`${said}, but provided ratio is ${ratio.toFixed(6)}`]
    : []
}

function entries(list: ResourceList | undefined): [name: string, amount: string][] {
  return Object.entries(list ?? {})
}
