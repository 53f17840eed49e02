/** Amounts by resource name, as in limits and requests. */
export type ResourceList = Record<string, string>

/** Adds the amounts that only the other list has. */
export function withMissingAmounts(
  list: ResourceList = {},
  other: ResourceList = {},
): ResourceList {
  return { ...other, ...list }
}

/** Copies the amounts that only `source` has to `target`. */
export function addMissingAmounts(target: ResourceList, source: ResourceList = {}): void {
  for (const [name, amount] of Object.entries(source)) {
    if (!(name in target)) target[name] = amount
  }
}
