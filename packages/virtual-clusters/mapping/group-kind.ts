import type { AnyObject } from '@skerry/api'

/** `apps/Deployment`, `/Pod`: a kind whatever its version. Tables of the mapping have kinds under it. */
export function groupKindOf({ apiVersion, kind }: Pick<AnyObject, 'apiVersion' | 'kind'>): string {
  const slash = apiVersion.indexOf('/')
  return `${slash === -1 ? '' : apiVersion.slice(0, slash)}/${kind}`
}
