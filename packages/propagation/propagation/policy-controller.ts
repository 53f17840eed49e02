import { keyOfObject, parseKey } from '@skerry/client'
import {
  dropFinalizer,
  watch,
  type ControllerContext,
  type ControllerDefinition,
  type ReconcileResult,
} from '@skerry/controller-runtime'
import { highestSelectorRank, selectorRanks, type PropagationPolicy } from '@skerry/karmada-kinds'
import { bindingScopes } from './binding-scope.ts'
import { policyId, type PolicyScope } from './claim.ts'
import type { FleetContext } from './fleet-context.ts'
import { releaseTemplate } from './release-template.ts'
import type { TemplateKind } from './templates.ts'
import { propagationBounds } from '../limits-table.ts'

const { unknownKindMs } = propagationBounds.policyController

/** Watches the kinds that policies of one scope select, and removes claims that have ended. */
export function policyController(scope: PolicyScope, shared: FleetContext): ControllerDefinition {
  const policies = new Policies(scope, shared)
  return {
    name: `${scope.resource.resource}-controller`,
    watches: [
      watch(scope.resource, {
        keysOf: ({ type, object, old }) =>
          type === 'deleted' || isSame(object, old) ? [] : [keyOfObject(object)],
      }),
      ...bindingScopes.map(({ resource }) =>
        watch(resource, {
          indexes: {
            [scope.idLabel]: ({ metadata }) => {
              const id = metadata.labels?.[scope.idLabel]
              return id ? [id] : []
            },
          },
          keysOf: () => [],
        }),
      ),
    ],
    reconcile: (key, context, signal) => policies.reconcile(key, context, signal),
  }
}

function isSame({ metadata }: PropagationPolicy, old: PropagationPolicy | undefined): boolean {
  return (
    metadata.generation === old?.metadata.generation &&
    metadata.deletionTimestamp === old?.metadata.deletionTimestamp
  )
}

class Policies {
  readonly #scope: PolicyScope
  readonly #shared: FleetContext

  constructor(scope: PolicyScope, shared: FleetContext) {
    this.#scope = scope
    this.#shared = shared
  }

  async reconcile(
    key: string,
    context: ControllerContext,
    signal: AbortSignal,
  ): Promise<ReconcileResult | void> {
    const policy = context.informer(this.#scope.resource).get(parseKey(key))
    if (policy === undefined) return
    const kinds = distinct([...selectedKinds(policy), ...this.#boundKinds(policy, context)])
    const known = await Promise.all(kinds.map((kind) => this.#shared.templates.watch(kind, signal)))
    const isGoing = policy.metadata.deletionTimestamp !== undefined
    for (const template of this.#shared.templates.claimedBy(policyId(policy))) {
      const rank = highestSelectorRank(template, policy.spec.resourceSelectors)
      if (!isGoing && rank > selectorRanks.none) continue
      const release = { template, scope: this.#scope }
      await releaseTemplate(release, this.#shared, context, signal)
    }
    if (isGoing) return dropFinalizer({ object: policy, ...this.#scope }, context, signal)
    if (known.includes(false)) return { requeueAfterMs: unknownKindMs }
  }

  /** Includes kinds that the policy selected before, because those objects must be released. */
  #boundKinds(policy: PropagationPolicy, context: ControllerContext): TemplateKind[] {
    const bindings = bindingScopes.flatMap(({ resource }) =>
      context.informer(resource).byIndex(this.#scope.idLabel, policyId(policy)),
    )
    return bindings.map(({ spec }) => spec.resource)
  }
}

function selectedKinds({ spec }: PropagationPolicy): TemplateKind[] {
  return spec.resourceSelectors.map(({ apiVersion, kind }) => ({ apiVersion, kind }))
}

function distinct(kinds: readonly TemplateKind[]): TemplateKind[] {
  return [...new Map(kinds.map((kind) => [textOf(kind), kind])).values()]
}

function textOf({ apiVersion, kind }: TemplateKind): string {
  return `${apiVersion} ${kind}`
}
