import { hostAddresses, isAddress } from '../../runtime/host-addresses.ts'
import { wrongUse } from '../../runtime/read-config-file.ts'
import { MasterDirectory, type CommonSettings } from '../masters/master-directory.ts'
import type { SitePart } from '../contract/site-part.ts'

interface MastersGiven {
  readonly advertiseAddress?: string | undefined
  readonly bindAddress: string
  /** True if the state is in etcd, where other masters may be. */
  readonly isShared: boolean
  readonly settings: CommonSettings
}

/** Publishes this master as an endpoint of the service `kubernetes`, with the others on the same store. */
export function masters(given: MastersGiven): SitePart {
  const { advertiseAddress, bindAddress, isShared, settings } = given
  if (advertiseAddress !== undefined && !isEndpoint(advertiseAddress)) {
    throw wrongUse(`--advertise-address ${advertiseAddress} is not an IPv4 address of this machine`)
  }
  return {
    sans: advertiseAddress === undefined ? [] : [advertiseAddress],
    async tasks({ server, objects, store, context }) {
      const [found] = isEndpoint(bindAddress) ? [bindAddress] : hostAddresses()
      const address = advertiseAddress ?? found
      if (address === undefined) {
        const reason =
          'this machine has no IPv4 address but loopback; restart the site when it has one'
        context.log.info('Service kubernetes has no endpoint', { reason })
        return []
      }
      const port = Number(new URL(server.address).port || 443)
      const directory = new MasterDirectory({ address, port }, settings, {
        ...context,
        store,
        objects,
      })
      if (!isShared) {
        await directory.publishAlone()
        return []
      }
      await directory.join()
      return [(scope) => directory.run(scope)]
    },
  }
}

/** Endpoints may not have loopback addresses. */
function isEndpoint(address: string): boolean {
  return isAddress(address) && !address.includes(':') && !/^(0\.0\.0\.0|127\.)/.test(address)
}
