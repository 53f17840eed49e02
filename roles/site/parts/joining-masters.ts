import { bootstrapNamespace } from '@skerry/api'
import type { Authorizer } from '@skerry/apiserver'
import type { SitePart } from '../contract/site-part.ts'
import type { EmbeddedEtcd } from '../etcd/start-embedded.ts'
import { keysSecretName, mastersGroup } from '../etcd/join-keys.ts'

/** Lets further masters join, and runs and watches this one's etcd. */
export function joiningMasters({ fault, tasks }: EmbeddedEtcd): SitePart {
  return {
    healthChecks: { 'etcd-members': async () => fault() },
    access: () => ({ authorizers: [keysAuthorizer] }),
    tasks: () => tasks,
  }
}

/** A joining master may read one Secret: the keys that were sealed for its own token. */
export const keysAuthorizer: Authorizer = Object.freeze<Authorizer>({
  async authorize({ user, verb, isResourceRequest, ...asked }) {
    const tokenId = /^system:bootstrap:([a-z0-9]{6})$/.exec(user.name)?.[1]
    const isOwn =
      isResourceRequest &&
      verb === 'get' &&
      asked.resource?.group === '' &&
      asked.resource.resource === 'secrets' &&
      !asked.subresource &&
      asked.namespace === bootstrapNamespace &&
      tokenId !== undefined &&
      asked.name === keysSecretName(tokenId) &&
      user.groups.includes(mastersGroup)
    return { verdict: isOwn ? 'allow' : 'no-opinion', reason: '' }
  },
})
