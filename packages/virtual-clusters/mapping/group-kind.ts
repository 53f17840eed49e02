import type { AnyObject } from '@skerry/api'

/** Returns `apps/Deployment` or `/Pod`: a kind in any version, as in the tables of the mapping. */
export function groupKindOf({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): string {
  const slash = apiVersion.indexOf('/')
  return `${slash === -1 ? '' : apiVersion.slice(0, slash)}/${kind}`
}
