import { equalJson, isJsonObject } from '@skerry/api'

/** A place where two specs differ. A side that is undefined has nothing there. */
export interface SpecDifference {
  /** Names of fields, and items of lists by their name, e.g. `template.spec.containers[web].image`. */
  readonly path: string
  readonly from?: unknown
  readonly to?: unknown
}

/** Returns the places where `to` differs from `from`; items of lists are compared by their names if all have one. */
export function specDifferences(from: unknown, to: unknown, path = ''): SpecDifference[] {
  if (equalJson(from, to)) return []
  const [before, after] = [membersOf(from), membersOf(to)]
  if (!before || !after || before.isList !== after.isList) {
    return [{ path, ...(from === undefined ? {} : { from }), ...(to === undefined ? {} : { to }) }]
  }
  const names = [...new Set([...before.members.keys(), ...after.members.keys()])]
  return names.flatMap((name) =>
    specDifferences(
      before.members.get(name),
      after.members.get(name),
      before.isList ? `${path}[${name}]` : path === '' ? name : `${path}.${name}`,
    ),
  )
}

interface Members {
  readonly isList: boolean
  readonly members: ReadonlyMap<string, unknown>
}

/** Returns undefined for a value that is compared as a whole. */
function membersOf(value: unknown): Members | undefined {
  if (isJsonObject(value)) return { isList: false, members: new Map(Object.entries(value)) }
  if (!Array.isArray(value) || value.length === 0) return undefined
  const members = new Map<string, unknown>()
  for (const item of value) {
    const name: unknown = isJsonObject(item) ? item['name'] : undefined
    if (typeof name !== 'string' || members.has(name)) return undefined
    members.set(name, item)
  }
  return { isList: true, members }
}
