const secondMs = 1000
const minuteMs = 60 * secondMs
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
const yearMs = 365 * dayMs

/**
 * Formats a duration as kubectl does: at most two units, the smaller one only while it matters,
 * e.g. 119s, 5m30s, 7h12m, 3d4h, 2y35d. A time slightly in the future counts as now, because clocks
 * differ.
 */
export function humanDuration(ms: number): string {
  const seconds = Math.trunc(ms / secondMs)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  if (ms < 10 * minuteMs) return twoUnits(ms, minuteMs, secondMs)
  if (ms < 3 * hourMs) return `${Math.floor(ms / minuteMs)}m`
  if (ms < 8 * hourMs) return twoUnits(ms, hourMs, minuteMs)
  if (ms < 2 * dayMs) return `${Math.floor(ms / hourMs)}h`
  if (ms < 8 * dayMs) return twoUnits(ms, dayMs, hourMs)
  if (ms < 2 * yearMs) return `${Math.floor(ms / dayMs)}d`
  if (ms < 8 * yearMs) return twoUnits(ms, yearMs, dayMs)
  return `${Math.floor(ms / yearMs)}y`
}

/** Formats how long ago an RFC 3339 time was, or `<unknown>` if there is none. */
export function ageOf(time: string | null | undefined, nowMs: number): string {
  if (time === null || time === undefined || time === '') return '<unknown>'
  return humanDuration(nowMs - Date.parse(time))
}

const unitName: Readonly<Record<number, string>> = Object.freeze({
  [secondMs]: 's',
  [minuteMs]: 'm',
  [hourMs]: 'h',
  [dayMs]: 'd',
  [yearMs]: 'y',
})

function twoUnits(ms: number, large: number, small: number): string {
  const whole = `${Math.floor(ms / large)}${unitName[large]}`
  const rest = Math.floor((ms % large) / small)
  return rest === 0 ? whole : `${whole}${rest}${unitName[small]}`
}
