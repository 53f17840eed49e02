/** The frame of a map: which part of the world it shows, and where a place is drawn. Pure. */
import type { Coordinates } from '../../data/fleet/fleet-places.ts'

export interface MapFrame {
  readonly width: number
  readonly height: number
  readonly x: (longitude: number) => number
  readonly y: (latitude: number) => number
  /** The lines of the net, in degrees. */
  readonly meridians: readonly number[]
  readonly parallels: readonly number[]
}

export interface MapSize {
  readonly width: number
  readonly height: number
  /** Room around the outermost places. */
  readonly padding: number
}

/** The least number of degrees that a map shows, so that one place is not the whole world. */
const smallestSpan = 0.5

/**
 * Frames all places. Degrees of longitude are drawn as wide as they are in the middle of the map, so that shapes are right
 * for a country, and nearly for a continent.
 */
export function mapFrame(
  places: readonly Coordinates[],
  { width, height, padding }: MapSize,
): MapFrame {
  const latitude = rangeOf(places.map((place) => place.latitude))
  const longitude = rangeOf(places.map((place) => place.longitude))
  const shrink = Math.max(0.1, Math.cos((latitude.middle * Math.PI) / 180))
  const scale = Math.min(
    (width - 2 * padding) / (longitude.span * shrink),
    (height - 2 * padding) / latitude.span,
  )
  const x = (degrees: number): number =>
    round(width / 2 + (degrees - longitude.middle) * shrink * scale)
  const y = (degrees: number): number => round(height / 2 - (degrees - latitude.middle) * scale)
  const half = { x: width / (2 * shrink * scale), y: height / (2 * scale) }
  const step = stepOf(Math.max(half.x, half.y) * 2)
  return {
    width,
    height,
    x,
    y,
    meridians: linesOf(longitude.middle - half.x, longitude.middle + half.x, step),
    parallels: linesOf(latitude.middle - half.y, latitude.middle + half.y, step),
  }
}

function rangeOf(values: readonly number[]): { readonly middle: number; readonly span: number } {
  const [min, max] = [Math.min(...values), Math.max(...values)]
  if (values.length === 0) return { middle: 0, span: smallestSpan }
  return { middle: (min + max) / 2, span: Math.max(smallestSpan, max - min) }
}

/** About six lines cross the longer side. */
function stepOf(span: number): number {
  const steps = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20]
  return steps.find((step) => span / step <= 8) ?? 30
}

function linesOf(from: number, to: number, step: number): number[] {
  const first = Math.ceil(from / step)
  const count = Math.max(0, Math.floor(to / step) - first + 1)
  return Array.from({ length: count }, (_, index) => round((first + index) * step))
}

function round(value: number): number {
  return Math.round(value * 100) / 100
}

/** Writes `60°N`, `10.5°W`, `0°`. */
export function degreesText(
  degrees: number,
  [positive, negative]: readonly [string, string],
): string {
  const side = degrees > 0 ? positive : degrees < 0 ? negative : ''
  return `${Math.abs(degrees)}°${side}`
}

/** The area of a mark grows with the number of clusters, up to a bound. */
export function markRadius(clusters: number): number {
  return Math.min(26, 8 + 2 * Math.sqrt(clusters - 1))
}
