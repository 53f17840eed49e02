import { StatusError, type AnyObject, type LabelSelector } from '@skerry/api'
import type { AdmissionRequest, ServedResource } from '../contract/admission.ts'
import type { Objects } from '../contract/objects.ts'
import { wellKnown } from '../contract/well-known-resources.ts'
import { matchesRule, type AdmissionRule } from './rule-match.ts'

/** Selects the requests that a webhook or a policy wants to see. */
export interface MatchCriteria {
  readonly rules: readonly AdmissionRule[]
  readonly excludedRules?: readonly AdmissionRule[]
  /** If true, no rules at all mean every resource, as in policy bindings. Default: false. */
  readonly matchesWithoutRules?: boolean
  /** If true, requests for the same resource in another version or group match as well. */
  readonly isEquivalent: boolean
  readonly namespaceSelector: LabelSelector
  readonly objectSelector: LabelSelector
}

/**
 * Returns the resource in the version that the rules name, or undefined if the request does not
 * match. Throws StatusError NotFound if the selector needs the labels of a missing namespace.
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
  // A missing namespace matters only if the request matches otherwise.
  if (found && namespace !== true) throw namespace
  return found
}

/** A request for a namespace itself counts as inside that namespace, as upstream. */
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

/** Returns an error if the namespace is missing and so its labels are unknown. */
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

/** Policies are not asked about access reviews, so that no policy can lock everybody out. */
export function isReview({ resource }: AdmissionRequest): boolean {
  return reviewGroups.has(resource.group) && resource.resource.endsWith('reviews')
}

/** Webhook and policy configurations must stay changeable, even if a policy refuses everything. */
export function isExempt({ kind }: AdmissionRequest): boolean {
  return kind.group === 'admissionregistration.k8s.io' && exemptKinds.has(kind.kind)
}
