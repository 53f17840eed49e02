import type { Command } from 'commander'
import type { TrustedProxies } from '@skerry/apiserver'
import { ExpectedError, exitCodes } from '@skerry/base'
import { collect } from './option-values.ts'

export interface ProxyProtocolFlags {
  proxyProtocolFrom: string[]
}

export function withProxyProtocol(command: Command): Command {
  return command.option(
    '--proxy-protocol-from <cidr>',
    'connections from this range start with a PROXY header, which names the client (repeatable)',
    collect,
    [],
  )
}

/** Resolves undefined if no proxy is trusted. Throws ExpectedError. */
export async function proxiesOf({
  proxyProtocolFrom: ranges,
}: ProxyProtocolFlags): Promise<TrustedProxies | undefined> {
  if (ranges.length === 0) return undefined
  const { trustedProxies } = await import('@skerry/apiserver')
  try {
    return trustedProxies(ranges)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    const text = `Cannot use --proxy-protocol-from: ${cause.message}`
    throw new ExpectedError(text, exitCodes.usage, { cause })
  }
}
