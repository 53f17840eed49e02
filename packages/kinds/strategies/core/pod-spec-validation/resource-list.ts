/** Amounts by resource name, as limits and requests carry them. */
export type ResourceList = Record<string, string>

/** With the amounts that only the other list names. */
export function withMissingAmounts(
  list: ResourceList = {},
  other: ResourceList = {},
): ResourceList {
  return { ...other, ...list }
}

/** Copies into `target` the amounts that only `source` names. */
export function addMissingAmounts(target: ResourceList, source: ResourceList = {}): void {
  for (const [name, amount] of Object.entries(source)) {
    if (!(name in target)) target[name] = amount
  }
}
