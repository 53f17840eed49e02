import {
  fieldInvalid,
  type AnyObject,
  type KubeObject,
  type Namespace,
  type Pod,
  type PodSpec,
  type StatusCause,
} from '@skerry/api'
import type { AdmissionPlugin, AdmissionRequest } from '../admission.ts'
import type { Objects } from '../objects.ts'
import { invalid } from '../registry/registry-errors.ts'
import { getTyped, listTyped, typed } from '../typed-objects.ts'
import { isResource, wellKnown } from '../well-known-resources.ts'
import type { PluginDeps } from './plugin-deps.ts'
import { podSecurityChecks, type PodSecurityLevel, type Violation } from './pod-security-table.ts'
import { refuse } from './refusal.ts'

const levels: readonly string[] = ['privileged', 'baseline', 'restricted']
const labelPrefix = 'pod-security.kubernetes.io/'

/** Where a kind that makes pods keeps their specification. */
const templatePaths: Readonly<Record<string, readonly string[]>> = Object.freeze({
  '/replicationcontrollers': ['spec', 'template', 'spec'],
  '/podtemplates': ['template', 'spec'],
  'apps/deployments': ['spec', 'template', 'spec'],
  'apps/replicasets': ['spec', 'template', 'spec'],
  'apps/statefulsets': ['spec', 'template', 'spec'],
  'apps/daemonsets': ['spec', 'template', 'spec'],
  'batch/jobs': ['spec', 'template', 'spec'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template', 'spec'],
})

interface PolicyLevel {
  readonly level: PodSecurityLevel
  readonly version: string
}

/** Holds pods to the level that their namespace's labels ask for; templates only get warnings. */
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
      const spec = podSpecOf(request)
      if (!namespace || !spec || isUnchanged(request)) return
      const isPod = isResource(request.resource, wellKnown.pods)
      const enforced = levelOf(namespace, 'enforce')
      const denial = isPod ? problemsAt(enforced.level, spec) : ''
      if (denial !== '') {
        throw refuse(
          request,
          `violates PodSecurity "${enforced.level}:${enforced.version}": ${denial}`,
        )
      }
      const warned = warnedLevelOf(namespace)
      const warning = problemsAt(warned.level, spec)
      if (warning === '') return
      request.warn(`would violate PodSecurity "${warned.level}:${warned.version}": ${warning}`)
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

/** A namespace that has got wrong labels in an earlier time may keep them. */
function checkLabels({ object, oldObject, name }: AdmissionRequest): void {
  const causes = object ? labelProblems(object) : []
  if (causes.length === 0 || (oldObject && labelProblems(oldObject).length > 0)) return
  throw invalid({ kind: 'Namespace', group: '', resource: 'namespaces' }, name, causes)
}

function labelProblems({ metadata: { labels = {} } }: AnyObject): StatusCause[] {
  return ['enforce', 'audit', 'warn'].flatMap((mode) => {
    const [levelKey, versionKey] = [`${labelPrefix}${mode}`, `${labelPrefix}${mode}-version`]
    const [level, version] = [labels[levelKey], labels[versionKey]]
    const found: StatusCause[] = []
    if (level !== undefined && !levels.includes(level)) {
      const detail = `must be one of ${levels.join(', ')}`
      found.push(fieldInvalid(`metadata.labels[${levelKey}]`, level, detail))
    }
    if (version !== undefined && !/^(latest|v1\.(0|[1-9]\d*))$/.test(version)) {
      const detail = 'must be "latest" or "v1.x"'
      found.push(fieldInvalid(`metadata.labels[${versionKey}]`, version, detail))
    }
    return found
  })
}

function podSpecOf({ resource, object }: AdmissionRequest): PodSpec | undefined {
  if (!object) return undefined
  if (isResource(resource, wellKnown.pods)) return typed<Pod>(object).spec
  let found: unknown = object
  for (const key of templatePaths[`${resource.group}/${resource.resource}`] ?? []) {
    // Any object may be looked into by name; what is not one ends the search.
    found = typeof found === 'object' && found !== null ? Reflect.get(found, key) : undefined
  }
  // The paths of the table lead to a PodSpec in the schema of their kinds.
  return found as PodSpec | undefined
}

/** An update that leaves the specification as it was cannot make it worse. */
function isUnchanged(request: AdmissionRequest): boolean {
  if (request.operation !== 'UPDATE' || !request.oldObject) return false
  const old = podSpecOf({ ...request, object: request.oldObject })
  return JSON.stringify(old) === JSON.stringify(podSpecOf(request))
}

function levelOf({ metadata }: KubeObject, mode: 'enforce' | 'warn'): PolicyLevel {
  const label = metadata.labels?.[`${labelPrefix}${mode}`] ?? 'privileged'
  const version = metadata.labels?.[`${labelPrefix}${mode}-version`] ?? 'latest'
  // A level that is misspelt is treated as the strictest, so that a slip opens nothing.
  const isKnown = levels.includes(label)
  const level = label === 'privileged' || label === 'baseline' ? label : 'restricted'
  return { level: isKnown ? level : 'restricted', version }
}

/** Who sets only what is enforced is warned of the same. */
function warnedLevelOf(namespace: KubeObject): PolicyLevel {
  const [enforced, warned] = [levelOf(namespace, 'enforce'), levelOf(namespace, 'warn')]
  const { labels = {} } = namespace.metadata
  if (labels[`${labelPrefix}warn`] !== undefined || !isStricter(enforced, warned)) return warned
  const hasVersion = labels[`${labelPrefix}warn-version`] !== undefined
  return { level: enforced.level, version: hasVersion ? warned.version : enforced.version }
}

function isStricter(a: PolicyLevel, b: PolicyLevel): boolean {
  return levels.indexOf(a.level) > levels.indexOf(b.level)
}

const podsCheckedMax = 3_000

/** Which pods of the namespace could not be made again under what it enforces from now on. */
function warnOfPods(
  { object, oldObject, subresource, name, warn }: AdmissionRequest,
  objects: Objects,
) {
  if (!object || !oldObject || subresource !== '') return
  const [next, old] = [levelOf(object, 'enforce'), levelOf(oldObject, 'enforce')]
  if (next.level === 'privileged') return
  if (next.version === old.version && !isStricter(next, old)) return
  const pods = listTyped<Pod>(objects, wellKnown.pods, name)
  const checked = oneOfEachOwnerFirst(pods).slice(0, podsCheckedMax)
  const names = new Map<string, string[]>()
  for (const { metadata, spec } of checked) {
    const reasons = violationsAt(next.level, spec ?? { containers: [] })
      .map(({ reason }) => reason)
      .join(', ')
    if (reasons !== '') names.set(reasons, [...(names.get(reasons) ?? []), metadata.name ?? ''])
  }
  if (checked.length < pods.length) {
    warn(
      `new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`,
    )
  }
  if (names.size === 0) return
  const level = JSON.stringify(`${next.level}:${next.version}`)
  warn(
    `existing pods in namespace ${JSON.stringify(name)} violate the new PodSecurity enforce level ${level}`,
  )
  for (const text of [...names].map(podsWarning).toSorted()) warn(text)
}

/** Pods of one owner are alike: one of each is looked at before the others. */
function oneOfEachOwnerFirst(pods: readonly Pod[]): Pod[] {
  const seen = new Set<string>()
  const [first, further]: [Pod[], Pod[]] = [[], []]
  for (const pod of pods) {
    const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller)?.uid
    const isFurther = owner !== undefined && seen.has(owner)
    if (owner !== undefined) seen.add(owner)
    ;(isFurther ? further : first).push(pod)
  }
  return [...first, ...further]
}

function podsWarning([reasons, names]: readonly [string, readonly string[]]): string {
  const [first = ''] = names.toSorted()
  const others = names.length - 1
  if (others === 0) return `${first}: ${reasons}`
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'}): ${reasons}`
}

function problemsAt(level: PodSecurityLevel, spec: PodSpec): string {
  return violationsAt(level, spec)
    .map(({ reason, detail }) => (detail === '' ? reason : `${reason} (${detail})`))
    .join(', ')
}

function violationsAt(level: PodSecurityLevel, spec: PodSpec): Violation[] {
  if (level === 'privileged') return []
  const isRestricted = level === 'restricted'
  const baseline = podSecurityChecks.filter(
    (check) => check.level === 'baseline' && !(isRestricted && check.isReplacedByRestricted),
  )
  const restricted = podSecurityChecks.filter((check) => isRestricted && check.level !== 'baseline')
  return [...baseline, ...restricted].flatMap((check) => check.find(spec) ?? [])
}
