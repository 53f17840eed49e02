import { toleratesTaint, type ResourceClaim, type ResourceSlice } from '@skerry/api'

/** Identifies a device's pool. */
export interface Pool {
  readonly driver: string
  readonly pool: string
}

/** Names of drivers and pools contain no spaces. */
export function poolKey({ driver, pool }: Pool): string {
  return `${driver} ${pool}`
}

/**
 * Returns when pods that use the claim must be evicted, in epoch milliseconds, or undefined if they
 * may stay. Only NoExecute taints of its devices count, without those that its allocation tolerates
 * forever. `slicesOf` returns every slice of a pool; those of former generations do not count.
 */
export function evictionMs(
  { status }: ResourceClaim,
  slicesOf: (pool: Pool) => readonly ResourceSlice[],
): number | undefined {
  const timesMs = (status?.allocation?.devices?.results ?? []).flatMap((result) =>
    taintsOf(result.device, slicesOf(result)).map((taint) => {
      const tolerations = (result.tolerations ?? []).filter(
        (each) => each.effect === taint.effect && toleratesTaint(each, taint),
      )
      const seconds = tolerations.map((each) => Math.max(0, each.tolerationSeconds ?? Infinity))
      const toleratedMs = tolerations.length === 0 ? 0 : Math.min(...seconds) * 1_000
      const isForEver = tolerations.some((each) => each.tolerationSeconds === undefined)
      return isForEver ? Infinity : Date.parse(taint.timeAdded ?? '') + toleratedMs
    }),
  )
  const firstMs = Math.min(...timesMs)
  return firstMs === Infinity ? undefined : firstMs
}

function taintsOf(deviceName: string, slices: readonly ResourceSlice[]) {
  const generation = Math.max(...slices.map(({ spec }) => spec.pool.generation))
  const device = slices
    .filter(({ spec }) => spec.pool.generation === generation)
    .flatMap(({ spec }) => spec.devices ?? [])
    .find(({ name }) => name === deviceName)
  return (device?.taints ?? []).filter(({ effect }) => effect === 'NoExecute')
}
