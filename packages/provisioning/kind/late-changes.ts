import { isDeepStrictEqual } from 'node:util'
import type { EdgeCluster, EdgeClusterSpec } from './edge-cluster.ts'

/** The fields that count while a machine is made, with what helps on those that are. */
const fields: readonly (readonly [keyof EdgeClusterSpec, string])[] = [
  [
    'hooks',
    'run it there with "skerry edge-cluster retry" and the step BeforeInstall or AfterInstall',
  ],
  ['version', 'change their program with an EdgeJob ("skerry upgrade edge-cluster")'],
  ['hubServer', 'their site keeps the address of the hub with which it was made'],
  ['networkInterface', 'their nodes keep their addresses'],
]

/** Returns a warning for each field whose change does not reach the machines that are made already. */
export function lateChangeTexts(next: EdgeCluster, old: EdgeCluster): string[] {
  const machines = old.status?.machines ?? []
  if (!machines.some(({ isMade }) => isMade === true)) return []
  return fields
    .filter(([field]) => !isDeepStrictEqual(next.spec[field], old.spec[field]))
    .map(
      ([field, remedy]) => `spec.${field}: machines that are made do not get the change: ${remedy}`,
    )
}
