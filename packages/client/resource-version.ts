/**
 * Compares two resource versions of one resource, which are decimal numbers and comparable since
 * Kubernetes 1.35 (KEP-5504). Returns a negative number if `first` is older, and undefined if
 * either is not such a number.
 */
export function compareResourceVersions(first: string, second: string): number | undefined {
  if (!isNumber(first) || !isNumber(second)) return undefined
  if (first.length !== second.length) return first.length - second.length
  return first < second ? -1 : first > second ? 1 : 0
}

function isNumber(version: string): boolean {
  return /^[1-9][0-9]*$/.test(version)
}
