const unitsMs: Readonly<Record<string, number>> = Object.freeze({
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
})

/**
 * Reads the header grpc-timeout in milliseconds. Returns undefined if the client set no deadline, and NaN if the
 * header is malformed.
 */
export function timeoutMsOf(header: string | string[] | undefined): number | undefined {
  if (header === undefined) return undefined
  const [, digits, unit = ''] = /^(\d{1,8})([HMSmun])$/.exec(String(header)) ?? []
  return digits === undefined ? NaN : Number(digits) * (unitsMs[unit] ?? NaN)
}
