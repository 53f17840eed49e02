import type {
  BackgroundController,
  ControllerDefinition,
  ControllerDeps,
} from '@skerry/controller-runtime'
import type { TenantRules } from '@skerry/karmada-kinds'
import {
  createFleetFailover,
  createFleetScheduler,
  propagationControllers,
} from '@skerry/propagation'

/** Returns the controllers that carry out policies. Only a hub with a policy or a binding imports it. */
export function fleetControllers(
  { isOn, rules }: { readonly isOn: boolean; readonly rules: TenantRules },
  deps: ControllerDeps,
  signal: AbortSignal,
): Promise<(ControllerDefinition | BackgroundController)[]> {
  const others = [...createFleetScheduler(), ...createFleetFailover({ isOn })]
  return propagationControllers({ others, rules }, deps, signal)
}
