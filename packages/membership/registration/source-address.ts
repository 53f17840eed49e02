import type { Authenticator } from '@skerry/apiserver'
import { clusterOfToken } from '@skerry/fleet-kinds'
import { registrationKeys } from './registration-keys.ts'

/**
 * Adds the source address to the user of a registration token. A signing request keeps its asker's extras,
 * which no client can set, so the person who accepts a registration sees the address that the hub saw.
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
