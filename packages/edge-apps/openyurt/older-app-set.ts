import type { WorkloadTweak, YurtAppSet } from './yurt-app-set.ts'

/**
 * Returns an application that was written as v1alpha1 in the fields of v1beta1. OpenYurt's own conversion, too, takes the NodePools
 * from the first expression of each pool, and the replicas alone of its differences.
 */
export function inNewerFields(app: YurtAppSet): YurtAppSet {
  const { spec } = app
  if (spec?.workloadTemplate === undefined || spec.workload !== undefined) return app
  const { workloadTemplate, topology, selector: _inTemplate, ...others } = spec
  const chosen = (topology?.pools ?? []).map(({ nodeSelectorTerm, replicas }) => {
    const { operator, values = [] } = nodeSelectorTerm?.matchExpressions?.[0] ?? {}
    return { pools: operator === 'In' ? values : [], replicas }
  })
  const workloadTweaks = chosen.flatMap(({ pools, replicas }): WorkloadTweak[] =>
    replicas === undefined || pools.length === 0 ? [] : [{ pools, tweaks: { replicas } }],
  )
  const pools = [...new Set(chosen.flatMap((each) => each.pools))]
  return { ...app, spec: { ...others, pools, workload: { workloadTemplate, workloadTweaks } } }
}
