import { StatusError, type AnyObject, type LabelSelector } from '@skerry/api'
import type { AdmissionRequest, ServedResource } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { matchesRule, type AdmissionRule } from './rule-match.ts'

/** What a webhook or a policy wants to see. */
export interface MatchCriteria {
  readonly rules: readonly AdmissionRule[]
  readonly excludedRules?: readonly AdmissionRule[]
  /** No rules at all mean every resource, as in bindings of policies; default: none. */
  readonly matchesWithoutRules?: boolean
  /** True: also requests that come for the same resource in another version or group. */
  readonly isEquivalent: boolean
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
}

/**
 * The resource in the version that the rules name; undefined: the request is none of theirs. Throws
 * StatusError NotFound when the selector needs the labels of a namespace that is not there.
 */
export function matchRequest(
  criteria: MatchCriteria,
  request: AdmissionRequest,
  objects: Objects,
): ServedResource | undefined {
  if (!matchesObject(criteria.objectSelector, request)) return undefined
  const namespace = matchesNamespace(criteria.namespaceSelector, request, objects)
  if (namespace === false) return undefined
  if (criteria.excludedRules && findRule(criteria.excludedRules, criteria, request)) {
    return undefined
  }
  const isForAll = criteria.matchesWithoutRules === true && criteria.rules.length === 0
  const found = isForAll
    ? { resource: request.resource, kind: request.objectKind }
    : findRule(criteria.rules, criteria, request)
  // Whom the request does not concern, no error concerns either.
  if (found && namespace !== true) throw namespace
  return found
}

/** Requests for a namespace itself are in that namespace, as upstream has it. */
export function namespaceOf(request: AdmissionRequest): string {
  const { resource, name, namespace } = request
  return resource.group === '' && resource.resource === 'namespaces' ? name : namespace
}

function findRule(
  rules: readonly AdmissionRule[],
  { isEquivalent }: Pick<MatchCriteria, 'isEquivalent'>,
  request: AdmissionRequest,
): ServedResource | undefined {
  const own = { resource: request.resource, kind: request.objectKind }
  if (rules.some((rule) => matches(rule, own, request))) return own
  if (!isEquivalent) return undefined
  const others = request.versions.equivalents()
  if (others.length === 0) return undefined
  for (const rule of rules) {
    const found = others.find((other) => matches(rule, other, request))
    if (found) return found
  }
  return undefined
}

function matches(rule: AdmissionRule, served: ServedResource, request: AdmissionRequest): boolean {
  const { operation, subresource, name } = request
  const namespace = namespaceOf(request)
  const subject = { resource: served.resource, operation, subresource, namespace }
  const { resourceNames = [] } = rule
  return matchesRule(rule, subject) && (resourceNames.length === 0 || resourceNames.includes(name))
}

function matchesObject(selector: LabelSelector, { object, oldObject }: AdmissionRequest): boolean {
  if (selector.isEmpty) return true
  const hasLabels = (candidate: AnyObject | undefined): boolean =>
    candidate !== undefined && selector.matches(candidate.metadata?.labels)
  return hasLabels(object) || hasLabels(oldObject)
}

/** An error: nobody knows, because the namespace is not there. */
function matchesNamespace(
  selector: LabelSelector,
  request: AdmissionRequest,
  objects: Objects,
): boolean | StatusError {
  const namespace = namespaceOf(request)
  const { resource, subresource, operation, object } = request
  const isNamespaces = resource.resource === 'namespaces'
  if ((namespace === '' && !isNamespaces) || selector.isEmpty) return true
  const isWritten = operation === 'CREATE' || operation === 'UPDATE'
  if (isNamespaces && subresource === '' && isWritten) {
    return selector.matches(object?.metadata.labels)
  }
  const found = objects.get(wellKnown.namespaces, '', namespace)
  if (found) return selector.matches(found.metadata.labels)
  return new StatusError('NotFound', `namespaces ${JSON.stringify(namespace)} not found`, {
    details: { name: namespace, kind: 'namespaces' },
  })
}

const exemptKinds: ReadonlySet<string> = new Set([
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'ValidatingWebhookConfiguration',
])

const reviewGroups: ReadonlySet<string> = new Set(['authentication.k8s.io', 'authorization.k8s.io'])

/** Policies are not asked about questions of access, so that none shuts everybody out. */
export function isReview({ resource }: AdmissionRequest): boolean {
  return reviewGroups.has(resource.group) && resource.resource.endsWith('reviews')
}

/** What decides over requests must stay changeable, also when it refuses everything. */
export function isExempt({ kind }: AdmissionRequest): boolean {
  return kind.group === 'admissionregistration.k8s.io' && exemptKinds.has(kind.kind)
}
