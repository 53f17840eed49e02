import { hostname } from 'node:os'
import type { BackgroundController } from '@skerry/controller-runtime'
import type { SitePart } from '../contract/site-part.ts'

/** Keeps the objects of the manifests in a directory of this machine in the site. */
export function manifests({ directory }: { readonly directory: string }): SitePart {
  const controller: BackgroundController = {
    name: 'manifests',
    async run(deps, signal) {
      const { followManifests } = await import('../manifests/follow-manifests.ts')
      await followManifests({ directory, master: hostname() }, deps, signal)
    },
  }
  return { controllers: () => [controller] }
}
