import { linkedSignal, logFailure, whenAborted, type Task } from '@skerry/base'
import { isAddress } from '../../runtime/host-addresses.ts'
import { MachineAddress } from '../../runtime/machine-address.ts'
import { wrongUse } from '../../runtime/read-config-file.ts'
import { MasterDirectory, type CommonSettings } from '../masters/master-directory.ts'
import { siteBounds } from '../limits-table.ts'
import type { OpenSite, SitePart } from '../contract/site-part.ts'

const { publishAgainMs } = siteBounds.masters

const publishing = {
  subject: 'Endpoint of this master',
  message: 'Endpoint of this master not published at its next address, trying again',
}

interface MastersGiven {
  readonly advertiseAddress?: string | undefined
  readonly bindAddress: string
  /** True if the state is in etcd, where other masters may be. */
  readonly isShared: boolean
  /** True if this master is a member of an etcd of the site, in which its address is fixed. */
  readonly isMember: boolean
  readonly settings: CommonSettings
}

/** Publishes this master as an endpoint of the service `kubernetes`, with the others on the same store. */
export function masters(given: MastersGiven): SitePart {
  const { advertiseAddress, bindAddress } = given
  if (advertiseAddress !== undefined && !isEndpoint(advertiseAddress)) {
    throw wrongUse(`--advertise-address ${advertiseAddress} is not an IPv4 address of this machine`)
  }
  return {
    sans: advertiseAddress === undefined ? [] : [advertiseAddress],
    async tasks(site) {
      const fixed = advertiseAddress ?? (isEndpoint(bindAddress) ? bindAddress : undefined)
      const address = new MachineAddress(fixed, site.context)
      const publishing = await publish(given, address, site)
      return [(scope) => address.run(scope), publishing]
    },
  }
}

/** Resolves when the endpoints have this master. Returns the work that keeps them so when its address changes. */
async function publish(
  { isShared, isMember, settings }: MastersGiven,
  address: MachineAddress,
  { server, objects, store, context }: OpenSite,
): Promise<Task> {
  const port = Number(new URL(server.address).port || 443)
  const directoryOf = (host: string): MasterDirectory =>
    new MasterDirectory({ address: host, port }, settings, { ...context, store, objects })
  const enter = async (): Promise<MasterDirectory | undefined> => {
    const { current } = address
    if (!isEndpoint(current)) {
      const reason = 'this machine has no IPv4 address but loopback'
      context.log.info('Service kubernetes has no endpoint', { reason })
      return undefined
    }
    const directory = directoryOf(current)
    await (isShared ? directory.join() : directory.publishAlone())
    return directory
  }
  let entered = await enter()
  return async (signal) => {
    for (;;) {
      using moved = linkedSignal(signal)
      using _changes = address.onChange((next) => {
        if (isMember) reportMember(context, next)
        else moved.abort(new Error('the address changed'))
      })
      try {
        await (isShared && entered ? entered.run(moved.signal) : aborted(moved.signal))
      } catch (error) {
        if (signal.aborted || !moved.signal.aborted) throw error
      }
      signal.throwIfAborted()
      entered = await again(enter, context, signal)
    }
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => whenAborted(signal, resolve))
}

/** The store may refuse a write for a moment: the former endpoint stays until it takes the next one. */
async function again<T>(
  work: () => Promise<T>,
  { clock, log }: OpenSite['context'],
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      logFailure(log, { ...publishing, error })
      await clock.sleep(publishAgainMs, signal)
    }
  }
}

function reportMember({ log }: OpenSite['context'], address: string): void {
  const remedy = 'give the machine its former address, or remove this master and let it join again'
  log.error('Address of this master changed, and the members of its etcd know the former one', {
    address,
    remedy,
  })
}

/** Endpoints may not have loopback addresses. */
function isEndpoint(address: string): boolean {
  return isAddress(address) && !address.includes(':') && !/^(0\.0\.0\.0|127\.)/.test(address)
}
