/** Parses values of options that several commands share, and formats the examples below their help. */
import { InvalidArgumentError, type Command } from 'commander'
import { parseDurationMs } from '@skerry/api'
import type { LogLevel } from '@skerry/base'

/** The directory for files of one machine that must not survive a reboot. */
export const runDirectoryDefault = '/run/skerry'

export function role(command: Command): Command {
  return command.option('--log-level <level>', 'error, info or debug', toLogLevel, 'info')
}

export function toLogLevel(text: string): LogLevel {
  if (text === 'error' || text === 'info' || text === 'debug') return text
  throw new InvalidArgumentError('use error, info or debug')
}

export function toPort(text: string): number {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port <= 65_535) return port
  throw new InvalidArgumentError('a port is a whole number from 0 to 65535')
}

/** Parses a port that others must know, so that the kernel cannot choose it. */
export function toFixedPort(text: string): number {
  const port = toPort(text)
  if (port > 0) return port
  throw new InvalidArgumentError('a port is a whole number from 1 to 65535')
}

/** Parses a whole number of things, one at least. */
export function toCount(text: string): number {
  if (/^[1-9]\d{0,6}$/.test(text)) return Number(text)
  throw new InvalidArgumentError('give a whole number, e.g. 10')
}

/** Parses the number of pods that a node runs at most. */
export function toPods(text: string): number {
  const pods = Number(text)
  if (/^\d{1,5}$/.test(text) && pods >= 1) return pods
  throw new InvalidArgumentError('give a number of pods, e.g. 110')
}

/** Parses the output option of commands that print either text or JSON. */
export function toJson(text: string): 'json' {
  if (text === 'json') return text
  throw new InvalidArgumentError('json is the only one')
}

/** Parses a lifetime in Kubernetes' format; a second at least. */
export function toLife(text: string): string {
  if ((parseDurationMs(text) ?? 0) >= 1_000) return text
  throw new InvalidArgumentError('a duration has its unit and is 1s or longer, e.g. 30m or 24h')
}

/** Parses a time after the end of a certificate, to milliseconds. */
export function toGraceMs(text: string): number {
  const [, count, unit] = /^(\d{1,5})(d|h|m|s)?$/.exec(text) ?? []
  const unitMs = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 }[unit ?? '']
  if (count === '0' || (count !== undefined && unitMs !== undefined)) {
    return Number(count) * (unitMs ?? 0)
  }
  throw new InvalidArgumentError('use a number with d, h, m or s, e.g. 30d; or 0')
}

/** Parses `127.0.0.1:9273` or `[::1]:9273`. */
export function toHostPort(text: string): { host: string; port: number } {
  const [, bracketed, plain, port = ''] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain
  if (host !== undefined) return { host, port: toPort(port) }
  throw new InvalidArgumentError('an address is <host>:<port>, e.g. 127.0.0.1:9273 or [::1]:9273')
}

export function collect(value: string, previous: string[]): string[] {
  return [...previous, value]
}

export function example(...lines: string[]): string {
  return `\nExamples:\n${lines.map((line) => `  ${line}`).join('\n')}\n`
}

/** Adds the address of a control plane to those before. */
export function toServers(text: string, previous: readonly string[] = []): string[] {
  if (URL.parse(text)?.protocol === 'https:') return [...previous, text]
  throw new InvalidArgumentError('give a URL like https://10.0.0.5:6443')
}
