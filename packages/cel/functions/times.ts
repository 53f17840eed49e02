import { CelRuntimeError } from '../language/cel-errors.ts'
import { celTypes } from '../language/cel-type.ts'
import { CelDuration, CelTimestamp, type CelValue } from '../language/cel-value.ts'
import type { FunctionDeclaration } from '../check/library.ts'
import { noSuchOverload } from '../values/kinds.ts'
import { floorDivide } from '../values/time-text.ts'
import { declare, member } from './declare.ts'

const { int, string, timestamp, duration } = celTypes
const milli = 1_000_000n

const parts: Readonly<Record<string, { id: string; of: (date: Date) => number }>> = Object.freeze({
  getFullYear: { id: 'year', of: (date) => date.getUTCFullYear() },
  getMonth: { id: 'month', of: (date) => date.getUTCMonth() },
  getDayOfYear: {
    id: 'day_of_year',
    of: (date) => {
      const start = new Date(date.getTime())
      start.setUTCMonth(0, 1)
      return Math.round((date.getTime() - start.getTime()) / 86_400_000)
    },
  },
  getDayOfMonth: { id: 'day_of_month', of: (date) => date.getUTCDate() - 1 },
  getDate: { id: 'day_of_month_1_based', of: (date) => date.getUTCDate() },
  getDayOfWeek: { id: 'day_of_week', of: (date) => date.getUTCDay() },
  getHours: { id: 'hours', of: (date) => date.getUTCHours() },
  getMinutes: { id: 'minutes', of: (date) => date.getUTCMinutes() },
  getSeconds: { id: 'seconds', of: (date) => date.getUTCSeconds() },
  getMilliseconds: { id: 'milliseconds', of: (date) => date.getUTCMilliseconds() },
})

const durationUnits: Readonly<Record<string, { id: string; nanos: bigint }>> = Object.freeze({
  getHours: { id: 'duration_to_hours', nanos: 3_600_000_000_000n },
  getMinutes: { id: 'duration_to_minutes', nanos: 60_000_000_000n },
  getSeconds: { id: 'duration_to_seconds', nanos: 1_000_000_000n },
  getMilliseconds: { id: 'duration_to_milliseconds', nanos: milli },
})

export const timeFunctions: readonly FunctionDeclaration[] = Object.entries(parts).map(
  ([name, { id, of }]) => {
    const read = (value: CelValue = null, zone: CelValue = 'UTC'): CelValue => {
      if (!(value instanceof CelTimestamp) || typeof zone !== 'string') throw noSuchOverload()
      return BigInt(of(localDate(value, zone)))
    }
    const unit = durationUnits[name]
    return declare(
      name,
      member({ id: `timestamp_to_${id}`, takes: [timestamp], gives: int }, read),
      member({ id: `timestamp_to_${id}_with_tz`, takes: [timestamp, string], gives: int }, read),
      ...(unit
        ? [
            member({ id: unit.id, takes: [duration], gives: int }, (value = null) => {
              if (!(value instanceof CelDuration)) throw noSuchOverload()
              return name === 'getMilliseconds'
                ? (value.nanos / milli) % 1000n
                : value.nanos / unit.nanos
            }),
          ]
        : []),
    )
  },
)

/** Returns a date whose UTC fields are the local time in the zone. */
function localDate({ nanos }: CelTimestamp, zone: string): Date {
  const utc = Number(floorDivide(nanos, milli))
  if (zone === 'UTC' || zone === '') return new Date(utc)
  const fixed = /^([+-]?)(\d{1,2}):(\d{2})$/.exec(zone)
  if (fixed) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3])
    return new Date(utc + (fixed[1] === '-' ? -minutes : minutes) * 60_000)
  }
  return new Date(utc + zoneOffset(new Date(utc), zone))
}

function zoneOffset(date: Date, timeZone: string): number {
  try {
    const shown = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' })
      .formatToParts(date)
      .find(({ type }) => type === 'timeZoneName')?.value
    const found = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?/.exec(shown ?? '')
    if (!found) return 0
    const seconds = Number(found[2]) * 3600 + Number(found[3]) * 60 + Number(found[4] ?? 0)
    return (found[1] === '-' ? -seconds : seconds) * 1000
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    throw new CelRuntimeError(`unknown time zone ${timeZone}`)
  }
}
