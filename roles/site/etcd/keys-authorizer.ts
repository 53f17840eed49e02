import { bootstrapNamespace } from '@skerry/api'
import type { Authorizer } from '@skerry/apiserver'
import { keysSecretName, mastersGroup } from './join-keys.ts'

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
