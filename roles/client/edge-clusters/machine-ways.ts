import { ExpectedError, exitCodes } from '@skerry/base'
import { jumpText, type BlockWay } from '@skerry/provisioning'
import { parseMachine } from './machine-blocks.ts'

/** The options by which the hub reaches machines that it cannot dial itself. */
export interface WayFlags {
  jump: string | undefined
  jumpCredentials: string | undefined
  viaSite?: boolean | undefined
  viaCluster: string | undefined
}

/**
 * Returns the way to all machines of a command, and takes the host keys of the jump host out of those of the machines.
 * Throws an ExpectedError.
 */
export function wayOf(
  flags: WayFlags,
  rules: {
    readonly credentials: string
    readonly hostKeys: Map<string, string[]>
    readonly acceptNewHostKeys: boolean
  },
): BlockWay {
  const { jump, jumpCredentials, viaSite = false, viaCluster } = flags
  if ([jump, viaSite || undefined, viaCluster].filter((each) => each !== undefined).length > 1) {
    throw usage('give one of --jump, --via-site and --via-cluster')
  }
  if (jumpCredentials !== undefined && jump === undefined) {
    throw usage('--jump-credentials needs --jump')
  }
  if (viaSite) return { via: 'Site' }
  if (viaCluster !== undefined) return { viaCluster }
  if (jump === undefined) return {}
  const { address, user, port } = parseMachine(jump)
  const name = jumpText({ address, ...(port === undefined ? {} : { port }) })
  const hostKeys = rules.hostKeys.get(name)
  rules.hostKeys.delete(name)
  return {
    jump: {
      address,
      ...(port === undefined ? {} : { port }),
      ...(user === undefined ? {} : { user }),
      credentials: { name: jumpCredentials ?? rules.credentials },
      ...(hostKeys === undefined ? {} : { hostKeys }),
      ...(rules.acceptNewHostKeys ? { acceptNewHostKeys: true } : {}),
    },
  }
}

function usage(why: string): ExpectedError {
  return new ExpectedError(`Cannot reach machines: ${why}`, exitCodes.usage)
}
