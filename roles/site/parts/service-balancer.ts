import { ExpectedError, exitCodes, messageOf } from '@skerry/base'
import {
  addressLeaseCleaner,
  parseAddressRanges,
  serviceLbController,
  serviceRangeController,
} from '@skerry/controllers'
import type { SitePart } from '../contract/site-part.ts'

/**
 * Gives services of type LoadBalancer their addresses: `nodes` those of nodes, `none` leaves them to another program, and
 * ranges such as `192.168.7.240-250` are announced by nodes. Throws ExpectedError.
 */
export function serviceBalancer(balancing: string): SitePart {
  if (balancing === 'none') return { controllers: () => [addressLeaseCleaner()] }
  if (balancing === 'nodes')
    return { controllers: () => [serviceLbController(), addressLeaseCleaner()] }
  const ranges = readRanges(balancing)
  return { controllers: () => [serviceRangeController(ranges)] }
}

function readRanges(text: string): string[] {
  try {
    return parseAddressRanges(text)
  } catch (error) {
    const why = `${messageOf(error)}; give nodes, none or ranges`
    throw new ExpectedError(`Cannot use --load-balancer: ${why}`, exitCodes.usage)
  }
}
