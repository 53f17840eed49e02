import type { SitePart } from '../contract/site-part.ts'

/** Serves the policies on what nodes accept while the site is away, and the conflicts that come of it. */
export function offlineWrites(): SitePart {
  return {
    async kinds(builtin) {
      const { offlineKinds } = await import('@skerry/node-api')
      return offlineKinds(builtin)
    },
  }
}
