import type { EdgeCluster, PackageSource } from './edge-cluster.ts'

/**
 * Returns the package that machines get now: the one to which a job has upgraded the master, or the object's own. A
 * change of the object's own takes that note back.
 */
export function packageInForce({
  spec,
  status,
}: Pick<EdgeCluster, 'spec' | 'status'>): PackageSource | undefined {
  return status?.package ?? spec.package
}

/** Returns the status that stays after a change of the spec. */
export function statusAfterChange(next: EdgeCluster, old: EdgeCluster): EdgeCluster['status'] {
  if (next.spec?.package?.digest === old.spec?.package?.digest) return old.status
  const { package: _taken, ...rest } = old.status ?? {}
  return rest
}
