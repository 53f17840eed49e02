/** The words that only a hub has. */
import type { Command } from 'commander'
import type { TrustedProxies } from '@skerry/apiserver'
import { ExpectedError, exitCodes } from '@skerry/base'
import type { RegistrationRules } from '../../roles/hub/registration/registration-rules.ts'
import { registrationDefaults } from '../../roles/hub/limits-table.ts'
import { collect, toGraceMs } from './option-values.ts'

export function withLoginOptions(command: Command): Command {
  return command
    .option(
      '--login-client-id <id>',
      'public client for "skerry login", an audience of a configured issuer',
    )
    .option('--login-scope <scope>', 'scope that "skerry login" requests (repeatable)', collect, [])
    .option(
      '--renew-user-certificates',
      "let users' certificates of this hub's authority renew themselves (default: they expire)",
    )
}

export interface RegistrationFlags {
  requireAcceptance: boolean | undefined
  reEnrolmentGrace: number | undefined
}

export function withRegistrationOptions(command: Command): Command {
  return command
    .option(
      '--require-acceptance',
      'no agent registers until "skerry cluster accept" accepts it, whatever its token allows',
    )
    .option(
      '--re-enrolment-grace <duration>',
      'time after its expiry in which a certificate still renews itself, e.g. 12h; 0 for never (default: 30d)',
      toGraceMs,
    )
}

export function registrationRulesOf(flags: RegistrationFlags): RegistrationRules {
  const { requireAcceptance = false } = flags
  const { reEnrolmentGrace = registrationDefaults.reEnrolmentGraceMs } = flags
  return { requiresAcceptance: requireAcceptance, reEnrolmentGraceMs: reEnrolmentGrace }
}

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
