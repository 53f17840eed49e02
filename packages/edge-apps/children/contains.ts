import { isJsonObject } from '@skerry/api'

/**
 * Returns true if every field that is wanted is there. More may be there: defaults, and what others added. Lists of
 * texts and numbers must be equal; an item of a list of objects is looked for by its name if it has one.
 */
export function contains(actual: unknown, wanted: unknown): boolean {
  if (wanted === undefined || wanted === null) return true
  if (Array.isArray(wanted)) return containsList(Array.isArray(actual) ? actual : [], wanted)
  if (isJsonObject(wanted)) {
    const fields = isJsonObject(actual) ? actual : {}
    return Object.entries(wanted).every(([name, value]) => contains(fields[name], value))
  }
  return actual === wanted || (actual === undefined && isZero(wanted))
}

function containsList(actual: readonly unknown[], wanted: readonly unknown[]): boolean {
  if (!wanted.every(isJsonObject)) {
    return actual.length === wanted.length && wanted.every((each, at) => actual[at] === each)
  }
  return wanted.every((item) => {
    const { name } = item
    return actual.some(
      (each) =>
        isJsonObject(each) && (name === undefined || each['name'] === name) && contains(each, item),
    )
  })
}

/** Servers leave zero values out. */
function isZero(value: unknown): boolean {
  return value === 0 || value === '' || value === false
}
