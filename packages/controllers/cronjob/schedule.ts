import { Cron } from 'croner'

/** The times at which a cron job is due, in milliseconds since the epoch. */
export interface Schedule {
  /** Returns the first time after `ms`, or undefined if there is none any more. */
  next(ms: number): number | undefined
  /** Returns the times in (afterMs, untilMs], newest first, at most `max` of them. */
  latest(range: { afterMs: number; untilMs: number; max: number }): number[]
}

const descriptors: Readonly<Record<string, string>> = Object.freeze({
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
})

const unitMs: Readonly<Record<string, number>> = Object.freeze({
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
})

/**
 * Throws an Error that describes the error in the text. If the zone is undefined, the process's
 * zone is used.
 */
export function parseSchedule(text: string, timeZone: string | undefined): Schedule {
  const every = /^@every\s+(\S+)$/.exec(text)?.[1]
  if (every !== undefined) return constantSchedule(parseInterval(every))
  const pattern = descriptors[text] ?? text
  const cron = new Cron(pattern, {
    mode: '5-part',
    paused: true,
    ...(timeZone === undefined ? {} : { timezone: timeZone }),
  })
  return {
    next: (ms) => cron.nextRun(new Date(ms))?.getTime(),
    latest({ afterMs, untilMs, max }) {
      // Yields runs before the reference, which croner takes in whole seconds.
      const reference = new Date((Math.floor(untilMs / 1000) + 1) * 1000)
      return cron
        .previousRuns(max, reference)
        .map((run) => run.getTime())
        .filter((ms) => ms > afterMs && ms <= untilMs)
    },
  }
}

/** Returns false for names that the time zone database does not have. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== ''
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

/** Counts from the last time, or from the job's creation, in whole seconds, at least one. */
function constantSchedule(intervalMs: number): Schedule {
  return {
    next: (ms) => Math.floor(ms / 1000) * 1000 + intervalMs,
    latest({ afterMs, untilMs, max }) {
      const startMs = Math.floor(afterMs / 1000) * 1000
      const count = Math.floor((untilMs - startMs) / intervalMs)
      const length = Math.max(0, Math.min(count, max))
      return Array.from({ length }, (_, index) => startMs + (count - index) * intervalMs)
    },
  }
}

function parseInterval(text: string): number {
  let ms = 0
  for (const [, count, unit = ''] of text.matchAll(/([0-9.]+)(ms|s|m|h)/g)) {
    ms += Number(count) * (unitMs[unit] ?? 0)
  }
  const isWhole = /^([0-9.]+(ms|s|m|h))+$/.test(text)
  if (!isWhole || !(ms > 0)) throw new Error(`failed to parse duration @every ${text}`)
  return Math.max(1000, Math.floor(ms / 1000) * 1000)
}
