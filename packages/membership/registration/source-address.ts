import type { Authenticator } from '@skerry/apiserver'
import { clusterOfToken } from '@skerry/fleet-kinds'
import { registrationKeys } from './registration-keys.ts'

/**
 * Says of a registration token's user from where it calls. A signing request keeps its asker's extras,
 * which no client can set: whoever accepts a registration sees the address that the hub saw.
 */
export function withSourceAddress(usual: Authenticator): Authenticator {
  return {
    async authenticate(credentials, signal) {
      const found = await usual.authenticate(credentials, signal)
      if (!found || !credentials.sourceAddress) return found
      if (clusterOfToken(found.user) === undefined) return found
      const extra = {
        ...found.user.extra,
        [registrationKeys.sourceAddress]: [credentials.sourceAddress],
      }
      return { ...found, user: { ...found.user, extra } }
    },
  }
}
