import { InvalidArgumentError, type Command } from 'commander'
import type { RegistrationRules } from '../../roles/hub/registration/registration-rules.ts'
import { registrationDefaults } from '../../roles/hub/limits-table.ts'

const dayMs = 24 * 3_600_000

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

function toGraceMs(text: string): number {
  const [, count, unit] = /^(\d{1,5})(d|h|m|s)?$/.exec(text) ?? []
  const unitMs = { d: dayMs, h: 3_600_000, m: 60_000, s: 1_000 }[unit ?? '']
  if (count === '0' || (count !== undefined && unitMs !== undefined)) {
    return Number(count) * (unitMs ?? 0)
  }
  throw new InvalidArgumentError('use a number with d, h, m or s, e.g. 30d; or 0')
}
