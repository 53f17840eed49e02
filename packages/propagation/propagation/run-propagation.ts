import { abortReason, runAll, type Task } from '@skerry/base'
import type { TypedResource } from '@skerry/client'
import type { KubeObject } from '@skerry/api'
import {
  runController,
  type BackgroundController,
  type ControllerDefinition,
  type ControllerDeps,
} from '@skerry/controller-runtime'
import { clusterTaintPolicyResource, type TenantRules } from '@skerry/karmada-kinds'
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

/**
 * Runs everything between a policy on the hub and the Works of clusters, and back. Until there is a
 * propagation or taint policy, or a binding of a former one, it watches nothing else.
 */
export function propagation({ others = [], ...options }: PropagationOptions): BackgroundController {
  return {
    name: 'propagation',
    async run(deps, signal) {
      await untilAny(triggers, deps, signal)
      deps.log.info('Propagation started')
      const { cluster, informers, clock } = deps
      const interpreter =
        options.interpreter ?? (await interpreterOf({ ...deps, hub: cluster }, signal))
      const templates = new Templates({ cluster, informers, clock })
      const shared = { templates, interpreter, rules: options.rules ?? {} }
      const controllers = [...propagationControllers(shared), ...others]
      await runAll(
        signal,
        controllers.map((each) => taskOf(each, deps)),
      )
    },
  }
}

const triggers: readonly TypedResource<KubeObject>[] = [
  namespacedPolicies.resource,
  clusterPolicies.resource,
  ...bindingScopes.map(({ resource }) => resource),
  clusterTaintPolicyResource,
]

function propagationControllers(shared: FleetContext): ControllerDefinition[] {
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

function taskOf(
  controller: ControllerDefinition | BackgroundController,
  deps: ControllerDeps,
): Task {
  return (scope) =>
    'run' in controller ? controller.run(deps, scope) : runController(controller, deps, scope)
}

/** Resolves when one of these resources has an object. */
async function untilAny(
  wanted: readonly TypedResource<KubeObject>[],
  { informers }: ControllerDeps,
  signal: AbortSignal,
): Promise<void> {
  const found = Promise.withResolvers<void>()
  const onAbort = (): void => found.reject(abortReason(signal))
  signal.addEventListener('abort', onAbort, { once: true })
  using subscriptions = new DisposableStack()
  for (const resource of wanted) {
    subscriptions.use(informers.informer(resource).onChange(() => found.resolve()))
  }
  try {
    signal.throwIfAborted()
    await found.promise
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}
