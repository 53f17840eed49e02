import { CelRuntimeError } from '../language/cel-errors.ts'

const second = 1_000_000_000n
const minTimestamp = -62_135_596_800n * second
const maxTimestamp = 253_402_300_800n * second - 1n

const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

/** RFC 3339 as nanoseconds since 1970. Throws CelRuntimeError. */
export function parseTimestamp(text: string): bigint {
  const wrong = (): CelRuntimeError =>
    new CelRuntimeError(
      `parsing time ${JSON.stringify(text)} as "2006-01-02T15:04:05Z07:00": cannot parse ${JSON.stringify(text)} as "2006"`,
    )
  const found = rfc3339.exec(text) ?? /^(\d{4})-(\d{2})-(\d{2})$/.exec(text)
  if (!found) throw wrong()
  const [, year, month, day, hour = '0', minute = '0', seconds = '0', fraction = ''] = found
  const [, , , , , , , , sign, offsetHours = '0', offsetMinutes = '0'] = found
  const millis = Date.UTC(
    2000,
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(seconds),
  )
  const date = new Date(millis)
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  const isReal =
    date.getUTCMonth() === Number(month) - 1 &&
    date.getUTCDate() === Number(day) &&
    Number(hour) < 24 &&
    Number(minute) < 60 &&
    Number(seconds) < 60
  if (!isReal) throw wrong()
  const offset = BigInt(Number(offsetHours) * 3600 + Number(offsetMinutes) * 60)
  const whole = BigInt(date.getTime() / 1000) - (sign === '-' ? -offset : offset)
  return checkTimestamp(whole * second + BigInt(fraction.padEnd(9, '0').slice(0, 9)))
}

export function checkTimestamp(nanos: bigint): bigint {
  if (nanos < minTimestamp || nanos > maxTimestamp) throw new CelRuntimeError('timestamp overflow')
  return nanos
}

/** RFC 3339 with as many digits as there are. */
export function timestampText(nanos: bigint): string {
  const seconds = floorDivide(nanos, second)
  const fraction = nanos - seconds * second
  const whole = new Date(Number(seconds) * 1000).toISOString().slice(0, 19)
  const digits = fraction.toString().padStart(9, '0').replace(/0+$/, '')
  return `${whole}${digits === '' ? '' : `.${digits}`}Z`
}

export function floorDivide(a: bigint, b: bigint): bigint {
  const quotient = a / b
  return a % b < 0n ? quotient - 1n : quotient
}

const unitNanos: Readonly<Record<string, bigint>> = Object.freeze({
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: second,
  m: 60n * second,
  h: 3600n * second,
})

/** Parses `1h30m0.5s` to nanoseconds. Throws CelRuntimeError. */
export function parseDuration(text: string): bigint {
  const wrong = (): CelRuntimeError =>
    new CelRuntimeError(`time: invalid duration ${JSON.stringify(text)}`)
  const found = /^([+-]?)((?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+|0)$/.exec(text)
  if (!found) throw wrong()
  let nanos = 0n
  for (const [, number = '', unit = ''] of (found[2] ?? '').matchAll(
    /([\d.]+)(ns|us|µs|μs|ms|s|m|h)/g,
  )) {
    const [whole = '', fraction = ''] = number.split('.')
    const scale = unitNanos[unit] ?? 0n
    nanos += BigInt(whole || '0') * scale
    if (fraction !== '') nanos += (BigInt(fraction) * scale) / 10n ** BigInt(fraction.length)
  }
  if (nanos > (1n << 63n) - 1n) throw wrong()
  return found[1] === '-' ? -nanos : nanos
}

export function checkDuration(nanos: bigint): bigint {
  if (BigInt.asIntN(64, nanos) !== nanos) throw new CelRuntimeError('duration overflow')
  return nanos
}

/** Formats a duration in seconds, as CEL does: `5400.5s`. */
export function durationText(nanos: bigint): string {
  const sign = nanos < 0n ? '-' : ''
  const absolute = nanos < 0n ? -nanos : nanos
  const digits = (absolute % second).toString().padStart(9, '0').replace(/0+$/, '')
  return `${sign}${absolute / second}${digits === '' ? '' : `.${digits}`}s`
}
