import { virtualParentPlugin, virtualWorksPlugin } from '@skerry/membership'
import type { HubPart } from '../contract/hub-part.ts'

/** Keeps each virtual cluster, and the Works for it, with the cluster that it is a part of. */
export function virtualParents(): HubPart {
  return {
    access: ({ objects }) => ({
      admission: () => [virtualParentPlugin, virtualWorksPlugin(objects)],
    }),
  }
}
