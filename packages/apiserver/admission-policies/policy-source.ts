import {
  labelSelectorOf,
  type AnyObject,
  type GroupResource,
  type MatchResources,
  type ParamKind,
  type ParamRef,
} from '@skerry/api'
import type { Objects } from '../contract/objects.ts'
import { typed } from '../contract/typed-objects.ts'
import type { MatchCriteria } from '../admission-matching/request-match.ts'
import { createDerivedList } from '../admission-matching/derived-list.ts'

/** A policy of either type with all bindings that name it. */
export interface PolicyHook<P, B> {
  readonly name: string
  readonly policy: P
  readonly criteria: MatchCriteria
  readonly bindings: readonly PolicyBinding<B>[]
}

export interface PolicyBinding<B> {
  readonly name: string
  readonly binding: B
  /** If undefined, the binding matches everything that its policy matches. */
  readonly criteria: MatchCriteria | undefined
  readonly paramRef: ParamRef | undefined
}

/** The fields that both types of policies share. */
export interface AnyPolicy {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: AnyObject['metadata']
  readonly spec?: {
    readonly matchConstraints?: MatchResources
    readonly paramKind?: ParamKind
    readonly failurePolicy?: string
  }
}

interface AnyBinding {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: AnyObject['metadata']
  readonly spec?: {
    readonly policyName?: string
    readonly paramRef?: ParamRef
    readonly matchResources?: MatchResources
  }
}

/**
 * Lists the policies that at least one binding names, by name. The list is rebuilt when a policy or
 * a binding changes.
 */
export function createPolicySource<P extends AnyPolicy, B extends AnyBinding>(
  objects: Objects,
  resources: { readonly policies: GroupResource; readonly bindings: GroupResource },
): () => readonly PolicyHook<P, B>[] {
  const { policies, bindings } = resources
  return createDerivedList(objects, [bindings, policies], () => {
    const bound = Map.groupBy(objects.list(bindings).toSorted(byName), (object) =>
      policyNameOf(object),
    )
    return objects
      .list(policies)
      .filter(({ metadata }) => bound.has(metadata.name ?? ''))
      .toSorted(byName)
      .map((object) => hookOf<P, B>(typed<P>(object), bound.get(object.metadata.name ?? '') ?? []))
  })
}

function policyNameOf(object: AnyObject): string {
  return typed<AnyBinding>(object).spec?.policyName ?? ''
}

function byName(a: AnyObject, b: AnyObject): number {
  const [left, right] = [a.metadata.name ?? '', b.metadata.name ?? '']
  return left < right ? -1 : left > right ? 1 : 0
}

function hookOf<P extends AnyPolicy, B extends AnyBinding>(
  policy: P,
  bindings: readonly AnyObject[],
): PolicyHook<P, B> {
  return {
    name: policy.metadata.name ?? '',
    policy,
    criteria: criteriaOf(policy.spec?.matchConstraints ?? {}),
    bindings: bindings.map((object) => {
      const binding = typed<B>(object)
      const { matchResources, paramRef } = binding.spec ?? {}
      return {
        name: binding.metadata.name ?? '',
        binding,
        criteria: matchResources && criteriaOf(matchResources),
        paramRef,
      }
    }),
  }
}

function criteriaOf(match: MatchResources): MatchCriteria {
  const { resourceRules = [], excludeResourceRules = [], matchPolicy } = match
  return {
    rules: resourceRules,
    ...(excludeResourceRules.length > 0 ? { excludedRules: excludeResourceRules } : {}),
    matchesWithoutRules: true,
    isEquivalent: matchPolicy !== 'Exact',
    namespaceSelector: labelSelectorOf(match.namespaceSelector ?? {}),
    objectSelector: labelSelectorOf(match.objectSelector ?? {}),
  }
}
