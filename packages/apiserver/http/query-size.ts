import { StatusError } from '@skerry/api'
import { apiServerBounds } from '../limits-table.ts'

const { parametersMax } = apiServerBounds.querySize

/** Throws StatusError BadRequest. */
export function requireFewParameters(target: string): void {
  if (!hasMany(target)) return
  throw new StatusError(
    'BadRequest',
    `the query has too many parameters: limit is ${parametersMax}`,
  )
}

/**
 * Returns the target in a form that may be parsed and logged: without its query if that has too
 * many parameters.
 */
export function withoutManyParameters(target: string): string {
  return hasMany(target) ? target.slice(0, target.indexOf('?')) : target
}

function hasMany(target: string): boolean {
  let at = target.indexOf('?')
  for (let count = 0; at >= 0; count += 1) {
    if (count >= parametersMax) return true
    at = target.indexOf('&', at + 1)
  }
  return false
}
