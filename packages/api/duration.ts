/** The units of Go's duration text ("1h30m", "2.5s", "100ms"), as in metav1.Duration. */
const msOfUnit: Readonly<Record<string, number>> = Object.freeze({
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  μs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
})

/** Returns milliseconds, possibly with a fraction, or undefined if the text is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  const match = /^([+-]?)((?:[0-9]*\.?[0-9]+|[0-9]+\.)(?:ns|us|µs|μs|ms|s|m|h))+$/.exec(text)
  if (!match) return /^[+-]?0$/.test(text) ? 0 : undefined
  let ms = 0
  for (const [, number = '', unit = ''] of text.matchAll(/([0-9.]+)(ns|us|µs|μs|ms|s|m|h)/g)) {
    ms += Number(number) * (msOfUnit[unit] ?? 0)
  }
  return match[1] === '-' ? -ms : ms
}

/** Formats a duration as Go does: 90000 is `1m30s`, 1500 is `1.5s`, 0 is `0s`. */
export function formatDurationMs(ms: number): string {
  if (ms === 0) return '0s'
  const sign = ms < 0 ? '-' : ''
  const size = Math.abs(ms)
  if (size < 1e-3) return `${sign}${Math.round(size * 1e6)}ns`
  if (size < 1) return `${sign}${trimmed(size * 1e3)}µs`
  if (size < 1000) return `${sign}${trimmed(size)}ms`
  const hours = Math.floor(size / 3_600_000)
  const minutes = Math.floor((size % 3_600_000) / 60_000)
  const seconds = trimmed((size % 60_000) / 1000)
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`
  return minutes > 0 ? `${sign}${minutes}m${seconds}s` : `${sign}${seconds}s`
}

function trimmed(value: number): string {
  return String(Number(value.toFixed(9)))
}
