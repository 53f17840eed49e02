import { storeLimitDefaults, type StoreLimits } from './limits-table.ts'

export function validateLimits(overrides: Partial<StoreLimits>): StoreLimits {
  const limits = { ...storeLimitDefaults, ...overrides }
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new RangeError(
        `Cannot open store: limit ${name} is ${value}, want a whole number above 0`,
      )
    }
  }
  return limits
}
