import { tunnelLimitDefaults, type TunnelLimits } from '../limits-table.ts'

export function validateTunnelLimits(overrides: Partial<TunnelLimits> = {}): TunnelLimits {
  const limits = { ...tunnelLimitDefaults, ...overrides }
  for (const [name, value] of Object.entries(limits)) {
    if (Number.isSafeInteger(value) && value > 0) continue
    throw new RangeError(
      `Cannot make tunnel: limit ${name} is ${value}, want a whole number above 0`,
    )
  }
  if (limits.streamWindowBytesMin > limits.streamWindowBytes) {
    throw new RangeError('Cannot make tunnel: streamWindowBytesMin is above streamWindowBytes')
  }
  return limits
}

/** A message is one head, or as many frames as the sender puts together, which is less. */
export function messageBytesMax(limits: TunnelLimits): number {
  return 262_144 + limits.headerBytesMax + limits.pathBytesMax + 4 * limits.headersMax
}
