import type { UserInfo } from '@skerry/apiserver'

/** The user as whom the hub acts on its own API. */
export const hubUser: UserInfo = Object.freeze({
  name: 'system:skerry-hub',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})
