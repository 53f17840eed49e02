import type { SitePart } from '../contract/site-part.ts'

/** Keeps the one copy of all objects that controllers and scheduler share, and sends their events. */
export function sharedInformers({ areNeeded }: { readonly areNeeded: boolean }): SitePart {
  return {
    tasks: ({ informers, events }) =>
      areNeeded ? [(scope) => informers.run(scope), (scope) => events.run(scope)] : [],
  }
}
