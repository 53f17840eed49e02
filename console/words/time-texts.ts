/** Ages and times as people read them. Pure. */
import type { Language } from './language.ts'

const minuteSeconds = 60
const hourSeconds = 3_600
const daySeconds = 86_400

const units = {
  en: { s: ' s', min: ' min', h: ' h', d: ' d' },
  zh: { s: ' 秒', min: ' 分钟', h: ' 小时', d: ' 天' },
}

/**
 * Writes a span of time in one unit, two between one hour and ten: `12 s`, `3 min`, `4 h 10 min`, `12 d`. A negative
 * span, which skewed clocks make, is `0 s`.
 */
export function spanText(spanMs: number, language: Language): string {
  const unit = units[language]
  const seconds = Math.max(0, Math.floor(spanMs / 1_000))
  if (seconds < minuteSeconds) return `${seconds}${unit.s}`
  if (seconds < hourSeconds) return `${Math.floor(seconds / minuteSeconds)}${unit.min}`
  const hours = Math.floor(seconds / hourSeconds)
  const minutes = Math.floor((seconds % hourSeconds) / minuteSeconds)
  if (hours < 10 && minutes > 0) return `${hours}${unit.h} ${minutes}${unit.min}`
  if (seconds < 2 * daySeconds) return `${hours}${unit.h}`
  return `${Math.floor(seconds / daySeconds)}${unit.d}`
}

/** How often a text of this age changes, so that a page draws it no more often. */
export function nextChangeMs(spanMs: number): number {
  if (spanMs < minuteSeconds * 1_000) return 1_000
  return spanMs < hourSeconds * 1_000 ? 10_000 : 60_000
}

/** Making one takes as long as writing a hundred moments with it. */
const momentFormats: Partial<Record<Language, Intl.DateTimeFormat>> = {}

/** Writes a moment in the viewer's zone and in UTC, for the text that appears over an age. */
export function momentText(atMs: number, language: Language): string {
  momentFormats[language] ??= new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', {
    dateStyle: 'medium',
    timeStyle: 'long',
  })
  const local = momentFormats[language].format(atMs)
  return `${local} · ${new Date(atMs).toISOString().replace('.000', '')}`
}

/** Writes the time of day of a line of a log in the viewer's zone, `09:41:07.042`; empty for anything but a time. */
export function lineTimeText(time: string): string {
  const at = new Date(time)
  if (Number.isNaN(at.getTime())) return ''
  const [hours, minutes, seconds] = [at.getHours(), at.getMinutes(), at.getSeconds()].map((part) =>
    String(part).padStart(2, '0'),
  )
  return `${hours}:${minutes}:${seconds}.${String(at.getMilliseconds()).padStart(3, '0')}`
}

/** Writes `09:41` within half a day, else the day as well, and the year of a day that is half a year away. */
export function clockText(atMs: number, nowMs: number, language: Language): string {
  const awaySeconds = Math.abs(nowMs - atMs) / 1_000
  const isRecent = awaySeconds < 12 * hourSeconds
  const isFar = awaySeconds > 182 * daySeconds
  return new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en-GB', {
    ...(isFar ? { year: 'numeric' } : {}),
    ...(isRecent ? {} : { month: 'short', day: 'numeric' }),
    hour: '2-digit',
    minute: '2-digit',
  }).format(atMs)
}
