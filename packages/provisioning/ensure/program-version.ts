import { StepError } from '../contract/step.ts'
import type { EdgeCluster } from '../kind/edge-cluster.ts'

/** Refuses another version than the object asks for: the hub may have been upgraded since the object was accepted. */
export function checkVersion(
  { spec }: EdgeCluster,
  { found, source }: { readonly found: string; readonly source: string },
): void {
  const { version } = spec
  if (version === undefined || found === version || found.startsWith(`${version}-`)) return
  const text = `spec.version asks for ${version}, and ${source} has ${found.replace(/-[0-9a-f]{12}$/, '')}: change spec.version, or remove it`
  throw new StepError(text, { isFinal: true })
}
