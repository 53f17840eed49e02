import type { Clock } from '@skerry/base'
import type { LuaArguments, LuaLibraryFunction } from './lua-arguments.ts'
import { luaOf } from './lua-json.ts'
import type { LuaTable } from './lua-table.ts'

/** Provides the time of day, always in UTC, and nothing else of the system. */
export function osFunctions(
  clock: Pick<Clock, 'now'>,
): Readonly<Record<string, LuaLibraryFunction>> {
  return {
    time(args) {
      if (args.values[0] === undefined) return Math.floor(clock.now() / 1000)
      return secondsOf(args.table(0))
    },
    date(args) {
      const format = args.values[0] === undefined ? '%c' : args.text(0).replace(/^!/, '')
      const seconds = args.values[1] === undefined ? clock.now() / 1000 : args.number(1)
      const date = new Date(Math.floor(seconds) * 1000)
      if (Number.isNaN(date.getTime())) throw args.error(1, 'no time')
      args.run.step(partSteps)
      if (format.startsWith('*t')) {
        const fields = fieldsOf(date)
        args.run.step(partSteps * Object.keys(fields).length)
        return luaOf(fields, args.run)
      }
      return formatDate(args, format, date)
    },
  }
}

function secondsOf(table: LuaTable): number {
  const field = (name: string, otherwise: number): number => {
    const value = table.get(name)
    return typeof value === 'number' ? value : otherwise
  }
  const ms = Date.UTC(
    field('year', 1970),
    field('month', 1) - 1,
    field('day', 1),
    field('hour', 12),
    field('min', 0),
    field('sec', 0),
  )
  return Math.floor(ms / 1000)
}

function fieldsOf(date: Date): Record<string, number | boolean> {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    hour: date.getUTCHours(),
    min: date.getUTCMinutes(),
    sec: date.getUTCSeconds(),
    wday: date.getUTCDay() + 1,
    yday: dayOfYear(date),
    isdst: false,
  }
}

function dayOfYear(date: Date): number {
  const dayMs = 86_400_000
  return Math.floor((date.getTime() - Date.UTC(date.getUTCFullYear())) / dayMs) + 1
}

const days = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday']
const months = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ')

/** Works like C's strftime, as far as scripts format Kubernetes times with it; other letters stay. */
const parts: Readonly<Record<string, (date: Date) => string>> = Object.freeze({
  a: (date: Date) => (days[date.getUTCDay()] ?? '').slice(0, 3),
  A: (date: Date) => days[date.getUTCDay()] ?? '',
  b: (date: Date) => months[date.getUTCMonth()] ?? '',
  c: (date: Date) => date.toUTCString(),
  d: (date: Date) => twoDigits(date.getUTCDate()),
  F: (date: Date) => date.toISOString().slice(0, 10),
  H: (date: Date) => twoDigits(date.getUTCHours()),
  I: (date: Date) => twoDigits(date.getUTCHours() % 12 || 12),
  m: (date: Date) => twoDigits(date.getUTCMonth() + 1),
  M: (date: Date) => twoDigits(date.getUTCMinutes()),
  p: (date: Date) => (date.getUTCHours() < 12 ? 'AM' : 'PM'),
  S: (date: Date) => twoDigits(date.getUTCSeconds()),
  X: (date: Date) => date.toISOString().slice(11, 19),
  y: (date: Date) => twoDigits(date.getUTCFullYear() % 100),
  Y: (date: Date) => String(date.getUTCFullYear()),
  z: () => '+0000',
  Z: () => 'UTC',
  '%': () => '%',
})

/** The steps for each part of a date. */
const partSteps = 8

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}

function formatDate({ run }: LuaArguments, format: string, date: Date): string {
  run.spend(format.length)
  // Every two characters may be a call.
  run.step(format.length)
  return format.replaceAll(/%(.)/gs, (whole, letter: string) => {
    const part = Object.hasOwn(parts, letter) ? parts[letter] : undefined
    run.step(partSteps)
    const text = part === undefined ? whole : part(date)
    run.spend(text.length)
    return text
  })
}
