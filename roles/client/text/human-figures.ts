import { humanDuration } from '@skerry/api'

/** Formats `3d4h`, as kubectl shows ages; `never` if there is no time. */
export function ageText(time: string | null | undefined, nowMs: number): string {
  const ms = time ? Date.parse(time) : Number.NaN
  return Number.isNaN(ms) ? 'never' : humanDuration(Math.max(0, nowMs - ms))
}

/** The same for a time to come; `expired` when it is over. */
export function leftText(time: string | null | undefined, nowMs: number): string {
  const ms = time ? Date.parse(time) : Number.NaN
  if (Number.isNaN(ms)) return '-'
  return ms <= nowMs ? 'expired' : humanDuration(ms - nowMs)
}

const units = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi']

/** Formats about three digits, in Kubernetes' binary units: `0`, `812`, `1.5Ki`, `34Mi`. */
export function bytesText(bytes: number): string {
  let value = bytes
  let unit = 0
  while (value >= 1_000 && unit < units.length - 1) {
    value /= 1_024
    unit += 1
  }
  const digits = unit === 0 || value >= 10 ? 0 : 1
  return `${value.toFixed(digits)}${units[unit] ?? ''}`
}

/** Formats `-` while it is not known. */
export function rttText(rttMs: number | null): string {
  if (rttMs === null) return '-'
  return rttMs < 10 ? `${rttMs.toFixed(1)}ms` : `${Math.round(rttMs)}ms`
}
