import { trafficBounds, tunnelBounds } from '../limits-table.ts'

/** The kinds of streams, the most urgent first. Frames without a body count as control. */
export const trafficClasses = Object.freeze(['control', 'interactive', 'logs', 'bulk'] as const)

export type TrafficClass = (typeof trafficClasses)[number]

/** The rules by which one end of a tunnel sends. */
export interface TrafficRules {
  /** The rate of the tunnel's messages. If omitted, as fast as the link. */
  readonly rate?: TrafficRate
  /** The share from 0 to 1 that a class gets at least while it waits, whatever its priority. */
  readonly floors: Readonly<Record<TrafficClass, number>>
  /** A stream that moved more than this within `bulkWindowMs` continues as bulk until it moves less. */
  readonly bulkAfterBytes: number
}

export interface TrafficRate {
  readonly bytesPerSecond: number
  /** The bytes that may be sent at once after a pause. */
  readonly burstBytes: number
}

export const bulkWindowMs = tunnelBounds.trafficRules.bulkWindowMs

export const defaultTrafficRules: TrafficRules = Object.freeze({
  floors: Object.freeze({ control: 0.1, interactive: 0.1, logs: 0.05, bulk: 0.05 }),
  bulkAfterBytes: tunnelBounds.trafficRules.bulkAfterBytes,
})

/** Returns undefined if the text is not valid rules; the other end may be of another version. */
export function parseTrafficRules(text: string): TrafficRules | undefined {
  const value = asRecord(parsed(text))
  const floors = asRecord(value?.['floors'])
  const bulkAfterBytes = value?.['bulkAfterBytes']
  if (!isWithin(bulkAfterBytes, trafficBounds.bulkAfterBytesMin, Number.MAX_SAFE_INTEGER)) {
    return undefined
  }
  const { control, interactive, logs, bulk } = floors ?? {}
  if (!isPart(control) || !isPart(interactive) || !isPart(logs) || !isPart(bulk)) return undefined
  const rules = { floors: { control, interactive, logs, bulk }, bulkAfterBytes }
  if (value?.['rate'] === undefined) return rules
  const rate = parseRate(asRecord(value['rate']))
  return rate && { ...rules, rate }
}

function parseRate(value: Record<string, unknown> | undefined): TrafficRate | undefined {
  const { bytesPerSecondMin, bytesPerSecondMax, burstBytesMax } = trafficBounds
  const { bytesPerSecond, burstBytes } = value ?? {}
  if (!isWithin(bytesPerSecond, bytesPerSecondMin, bytesPerSecondMax)) return undefined
  if (!isWithin(burstBytes, 0, burstBytesMax)) return undefined
  return { bytesPerSecond, burstBytes }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The caller reports the invalid rules.
    return undefined
  }
}

function asRecord(value: unknown): Record<string, unknown> | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  // Any other object is a record of unknown values.
  return value as Record<string, unknown>
}

function isPart(value: unknown): value is number {
  return isWithin(value, 0, 1)
}

function isWithin(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && value >= min && value <= max
}
