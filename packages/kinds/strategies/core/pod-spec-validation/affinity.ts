import {
  fieldDuplicate,
  fieldForbidden,
  fieldInvalid,
  fieldRequired,
  type Affinity,
  type NodeAffinity,
  type PodAffinity,
  type PodAffinityTerm,
  type TopologySpreadConstraint,
} from '@skerry/api'
import {
  checkLabelField,
  checkOneOf,
  checkPositive,
  checkQualifiedField,
  type Found,
} from '../../checks.ts'
import { checkLabelSelector, type SelectorFields } from '../../label-checks.ts'
import type { Loose } from '../../typed-strategy.ts'
import { checkNodeSelector, checkNodeSelectorTerm } from './node-selector.ts'

const required = 'requiredDuringSchedulingIgnoredDuringExecution'
const preferred = 'preferredDuringSchedulingIgnoredDuringExecution'

export function checkAffinity(affinity: Loose<Affinity>, path: string, found: Found): void {
  if (affinity.nodeAffinity) {
    checkNodeAffinity(affinity.nodeAffinity, `${path}.nodeAffinity`, found)
  }
  for (const name of ['podAffinity', 'podAntiAffinity'] as const) {
    const podAffinity = affinity[name]
    if (podAffinity) checkPodAffinity(podAffinity, `${path}.${name}`, found)
  }
}

function checkNodeAffinity(affinity: Loose<NodeAffinity>, path: string, found: Found): void {
  const selector = affinity[required]
  if (selector) checkNodeSelector(selector, `${path}.${required}`, found)
  for (const [at, term] of (affinity[preferred] ?? []).entries()) {
    const field = `${path}.${preferred}[${at}]`
    checkWeight(term.weight, field, found)
    checkNodeSelectorTerm(term.preference ?? {}, `${field}.preference`, found, true)
  }
}

function checkWeight(weight = 0, path: string, found: Found): void {
  if (weight >= 1 && weight <= 100) return
  found.push(fieldInvalid(`${path}.weight`, weight, 'must be in the range 1-100'))
}

function checkPodAffinity(affinity: Loose<PodAffinity>, path: string, found: Found): void {
  for (const [at, term] of (affinity[required] ?? []).entries()) {
    checkPodAffinityTerm(term, `${path}.${required}[${at}]`, found)
  }
  for (const [at, weighted] of (affinity[preferred] ?? []).entries()) {
    const field = `${path}.${preferred}[${at}]`
    checkWeight(weighted.weight, field, found)
    checkPodAffinityTerm(weighted.podAffinityTerm ?? {}, `${field}.podAffinityTerm`, found)
  }
}

function checkPodAffinityTerm(term: Loose<PodAffinityTerm>, path: string, found: Found): void {
  checkLabelSelector(term.labelSelector, `${path}.labelSelector`, found)
  checkLabelSelector(term.namespaceSelector, `${path}.namespaceSelector`, found)
  for (const name of term.namespaces ?? []) checkLabelField(name, `${path}.namespace`, found)
  checkLabelKeys(term, path, found)
  const { topologyKey = '' } = term
  if (!topologyKey) found.push(fieldRequired(`${path}.topologyKey`, 'can not be empty'))
  checkQualifiedField(topologyKey, `${path}.topologyKey`, found)
}

interface KeyedTerm {
  labelSelector?: Loose<SelectorFields>
  matchLabelKeys?: string[]
  mismatchLabelKeys?: string[]
}

function checkLabelKeys(term: KeyedTerm, path: string, found: Found): void {
  const { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] } = term
  checkKeyNames(matchLabelKeys, labelSelector, `${path}.matchLabelKeys`, found)
  checkKeyNames(mismatchLabelKeys, labelSelector, `${path}.mismatchLabelKeys`, found)
  const seen = new Set(Object.keys(labelSelector?.matchLabels ?? {}))
  for (const { key = '' } of labelSelector?.matchExpressions ?? []) {
    const at = matchLabelKeys.indexOf(key)
    if (at >= 0 && seen.has(key)) {
      const detail = 'exists in both matchLabelKeys and labelSelector'
      found.push(fieldInvalid(`${path}[${at}]`, key, detail))
    }
    seen.add(key)
  }
  for (const [at, key] of matchLabelKeys.entries()) {
    if (!mismatchLabelKeys.includes(key)) continue
    const detail = 'exists in both matchLabelKeys and mismatchLabelKeys'
    found.push(fieldInvalid(`${path}.matchLabelKeys[${at}]`, key, detail))
  }
}

function checkKeyNames(
  keys: readonly string[],
  selector: Loose<SelectorFields> | undefined,
  field: string,
  found: Found,
): void {
  if (keys.length === 0) return
  if (!selector) {
    found.push(fieldForbidden(field, 'must not be specified when labelSelector is not set'))
    return
  }
  for (const [at, key] of keys.entries()) checkQualifiedField(key, `${field}[${at}]`, found)
}

export function checkSpreadConstraints(
  constraints: readonly Loose<TopologySpreadConstraint>[],
  field: string,
  found: Found,
): void {
  for (const [at, constraint] of constraints.entries()) {
    const path = `${field}[${at}]`
    const { topologyKey = '', whenUnsatisfiable = '' } = constraint
    checkPositive(constraint.maxSkew, `${path}.maxSkew`, found)
    if (!topologyKey) found.push(fieldRequired(`${path}.topologyKey`, 'can not be empty'))
    const actions = ['DoNotSchedule', 'ScheduleAnyway']
    checkOneOf(whenUnsatisfiable, actions, `${path}.whenUnsatisfiable`, found)
    const isRepeated = constraints
      .slice(at + 1)
      .some(
        (other) =>
          (other.topologyKey ?? '') === topologyKey &&
          (other.whenUnsatisfiable ?? '') === whenUnsatisfiable,
      )
    if (isRepeated) {
      const pair = `{${topologyKey}, ${whenUnsatisfiable}}`
      found.push(fieldDuplicate(`${path}.{topologyKey, whenUnsatisfiable}`, pair))
    }
    checkMinDomains(constraint, path, found)
    const policies = ['Honor', 'Ignore']
    checkOneOf(constraint.nodeAffinityPolicy, policies, `${path}.nodeAffinityPolicy`, found)
    checkOneOf(constraint.nodeTaintsPolicy, policies, `${path}.nodeTaintsPolicy`, found)
    checkLabelKeys(constraint, path, found)
    checkLabelSelector(constraint.labelSelector, `${path}.labelSelector`, found)
  }
}

function checkMinDomains(
  constraint: Loose<TopologySpreadConstraint>,
  path: string,
  found: Found,
): void {
  const { minDomains, whenUnsatisfiable = '' } = constraint
  if (minDomains === undefined) return
  checkPositive(minDomains, `${path}.minDomains`, found)
  if (whenUnsatisfiable === 'DoNotSchedule') return
  const detail = `can only use minDomains if whenUnsatisfiable=DoNotSchedule, not ${whenUnsatisfiable}`
  found.push(fieldInvalid(`${path}.minDomains`, minDomains, detail))
}
