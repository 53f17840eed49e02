import { createAcceptedMark, offlineKinds } from '@skerry/node-api'
import type { SitePart } from '../contract/site-part.ts'

/** Serves the policies on what nodes accept while the site is away, and the conflicts that come of it. */
export function offlineWrites(): SitePart {
  return {
    kinds: (builtin) => offlineKinds(builtin),
    access: () => ({ admission: () => [createAcceptedMark()] }),
  }
}
