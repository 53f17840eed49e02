import { createControllerMetrics } from '@skerry/controller-runtime'
import {
  createNodeLifecycleController,
  namedControllers,
  runControllers,
} from '@skerry/controllers'
import { elsewhere, type SitePart } from '../contract/site-part.ts'

export interface ControllersOptions {
  /** True if another program's controllers work on this API server. */
  isDisabled?: boolean | undefined
  /** The label whose values name groups of nodes that vote about which of them is dead. If omitted, nobody votes. */
  neighboursBy?: string | undefined
}

/** Runs all controllers of kube-controller-manager, and those of the other parts. */
export function controllers(
  { isDisabled, neighboursBy }: ControllersOptions,
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
        const all = [...upstreamControllers(neighboursBy), ...configured]
        return [(scope) => runControllers(all, deps, scope)]
      }
    },
  }
}

function upstreamControllers(
  neighboursBy: string | undefined,
): ReturnType<typeof namedControllers> {
  const lifecycle = createNodeLifecycleController({ neighboursBy })
  const others = namedControllers('all').filter(({ name }) => name !== lifecycle.name)
  return [...others, lifecycle]
}
