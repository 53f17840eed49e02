import { equalJson, isJsonObject } from '@skerry/api'

/**
 * Reports whether two statuses are equal. The hub keeps neither zeros nor empty values, and has its own order
 * of fields, so its answer is not literally what was written.
 */
export function isSameFacts(left: unknown, right: unknown): boolean {
  const [one, other] = [bare(left), bare(right)]
  return (saysNothing(one) && saysNothing(other)) || equalJson(one, other)
}

/** Removes empty values. */
function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare)
  if (!isJsonObject(value)) return value
  const told = Object.entries(value).flatMap(([key, each]): [string, unknown][] => {
    const kept = bare(each)
    return saysNothing(kept) ? [] : [[key, kept]]
  })
  return Object.fromEntries(told)
}

function saysNothing(value: unknown): boolean {
  if (value === undefined || value === 0 || value === '') return true
  if (Array.isArray(value)) return value.length === 0
  return isJsonObject(value) && Object.keys(value).length === 0
}
