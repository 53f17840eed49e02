/** The words for links: times, rates and shares. */
import { InvalidArgumentError } from 'commander'
import { parseDurationMs } from '@skerry/api'

const dayMs = 86_400_000

/** Parses a time from a millisecond to a day. */
export function toSpanMs(text: string): number {
  const ms = parseDurationMs(text) ?? 0
  if (ms >= 1 && ms <= dayMs) return ms
  throw new InvalidArgumentError('a time has its unit, from 1ms to 24h, e.g. 150ms or 5m')
}

/** Parses a share of packets in percent, with or without the sign. */
export function toPercent(text: string): number {
  const [, number = ''] = /^(\d{1,3}(?:\.\d{1,4})?)%?$/.exec(text) ?? []
  const percent = number === '' ? -1 : Number(number)
  if (percent >= 0 && percent <= 100) return percent
  throw new InvalidArgumentError('a share is from 0% to 100%, e.g. 2.5%')
}

const units: Readonly<Record<string, number>> = { bit: 1, kbit: 1e3, mbit: 1e6, gbit: 1e9 }

/** Parses a rate as tc does, to bits a second. */
export function toBitsPerSecond(text: string): number {
  const [, number = '', unit = ''] =
    /^(\d{1,6}(?:\.\d{1,3})?)(bit|kbit|mbit|gbit)$/.exec(text) ?? []
  const bits = Math.round(Number(number) * (units[unit] ?? 0))
  if (bits >= 8_000) return bits
  throw new InvalidArgumentError('a rate has its unit and is 8kbit or more, e.g. 256kbit or 20mbit')
}

/** Parses the name of a network interface, as the kernel takes it. */
export function toInterface(text: string): string {
  if (/^[A-Za-z0-9_.:-]{1,15}$/.test(text) && text !== '.' && text !== '..') return text
  throw new InvalidArgumentError('an interface has a name like eth0, as "ip link" shows it')
}

/** Parses the name of a network namespace, as `ip netns` has it. */
export function toNetns(text: string): string {
  if (/^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/.test(text)) return text
  throw new InvalidArgumentError('a network namespace has a name, as "ip netns list" shows it')
}
