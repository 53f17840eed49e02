import { createControllerMetrics } from '@skerry/controller-runtime'
import { namedControllers, runControllers } from '@skerry/controllers'
import { elsewhere, type SitePart } from '../contract/site-part.ts'

export interface ControllersOptions {
  /** True if another program's controllers work on this API server. */
  isDisabled?: boolean | undefined
}

/** Runs all controllers of kube-controller-manager, and those of the other parts. */
export function controllers(
  { isDisabled }: ControllersOptions,
  others: readonly SitePart[],
): SitePart {
  if (isDisabled) return { componentFaults: { 'controller-manager': elsewhere } }
  return {
    leads(site) {
      // A master that leads again goes on counting.
      const metrics = createControllerMetrics(site.context.metrics)
      return (term) => {
        const { cluster, informers, events, context } = term
        const { clock, random, log } = context
        const configured = others.flatMap((part) => part.controllers?.(term) ?? [])
        const deps = { cluster, informers, events, clock, random, log, metrics }
        const all = [...namedControllers('all'), ...configured]
        return [(scope) => runControllers(all, deps, scope)]
      }
    },
  }
}
