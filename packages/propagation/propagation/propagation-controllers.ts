import type {
  BackgroundController,
  ControllerDefinition,
  ControllerDeps,
} from '@skerry/controller-runtime'
import type { TenantRules } from '@skerry/karmada-kinds'
import { interpreterOf, type ResourceInterpreter } from '@skerry/interpreter'
import { bindingController } from './binding-controller.ts'
import { bindingScopes } from './binding-scope.ts'
import { bindingStatusController } from './binding-status-controller.ts'
import { clusterPolicies, namespacedPolicies } from './claim.ts'
import { dependenciesDistributor } from './dependencies-distributor.ts'
import { resourceDetector } from './detector.ts'
import type { FleetContext } from './fleet-context.ts'
import { namespaceSyncController } from './namespace-sync-controller.ts'
import { policyController } from './policy-controller.ts'
import { Templates } from './templates.ts'

export interface PropagationOptions {
  /** If omitted, it interprets native kinds, and others by the hub's own customizations and webhooks. */
  readonly interpreter?: ResourceInterpreter
  /** If omitted, the writers of a namespace reach nothing outside of it. */
  readonly rules?: TenantRules
  /** Controllers to run in addition, such as the scheduler. */
  readonly others?: readonly (ControllerDefinition | BackgroundController)[]
}

/** Returns everything between a policy on the hub and the Works of clusters, and back. */
export async function propagationControllers(
  { others = [], ...options }: PropagationOptions,
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<(ControllerDefinition | BackgroundController)[]> {
  const { cluster, informers, clock } = deps
  const interpreter =
    options.interpreter ?? (await interpreterOf({ ...deps, hub: cluster }, signal))
  const templates = new Templates({ cluster, informers, clock })
  const shared = { templates, interpreter, rules: options.rules ?? {} }
  return [...ownControllers(shared), ...others]
}

function ownControllers(shared: FleetContext): ControllerDefinition[] {
  return [
    policyController(namespacedPolicies, shared),
    policyController(clusterPolicies, shared),
    resourceDetector(shared),
    dependenciesDistributor(shared),
    ...bindingScopes.flatMap((scope) => [
      bindingController(scope, shared),
      bindingStatusController(scope, shared),
    ]),
    namespaceSyncController,
  ]
}
