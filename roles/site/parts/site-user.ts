import type { UserInfo } from '@skerry/apiserver'
import { version } from '../../runtime/version.ts'

/** Controllers and scheduler act as this user, in system:masters: nothing separates them within one process. */
export const siteUser: UserInfo = Object.freeze({
  name: 'system:skerry-site',
  groups: Object.freeze(['system:masters', 'system:authenticated']),
  extra: Object.freeze({}),
})

export const userAgent = `skerry-site/${version}`
