import type { BackgroundController } from '@skerry/controller-runtime'
import { createFleetScheduler, propagation } from '@skerry/karmada'

/** What a hub does with policies: it finds what they select, places it, and writes the Works. */
export function fleetControllers(): BackgroundController[] {
  return [propagation({ others: createFleetScheduler() })]
}
