import { toleratesTaint, type ResourceClaim, type ResourceSlice } from '@skerry/api'

/** Of which pool a device is. */
export interface Pool {
  readonly driver: string
  readonly pool: string
}

/** No name of a driver or pool has a space in it. */
export function poolKey({ driver, pool }: Pool): string {
  return `${driver} ${pool}`
}

/**
 * When pods that use the claim have to go, epoch milliseconds; undefined: they may stay. Only taints
 * NoExecute of its devices count, and of those not the ones that its allocation tolerates for ever.
 * `slicesOf`: every slice of a pool; those of former generations do not count.
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
