import { CelOpaque, noSuchOverload, type CelType, type CelValue } from '@skerry/cel'

/** Wraps one library's data in opaque values, and unwraps it. */
export interface OpaqueKind<T> {
  readonly type: CelType
  make(value: T): CelOpaque
  /** Throws CelRuntimeError for values of other kinds. */
  read(value: CelValue | undefined): T
}

/** Creates a kind of opaque value. `areEqual` compares two of them. */
export function opaqueKind<T>(type: CelType, areEqual: (a: T, b: T) => boolean): OpaqueKind<T> {
  const held = new WeakMap<CelOpaque, { value: T }>()
  const read = (value: CelValue | undefined): T => {
    const found = value instanceof CelOpaque ? held.get(value) : undefined
    if (!found) throw noSuchOverload()
    return found.value
  }
  return {
    type,
    make(value) {
      const made = new CelOpaque(
        type,
        value,
        (other) => held.has(other) && areEqual(value, read(other)),
      )
      held.set(made, { value })
      return made
    },
    read,
  }
}

export function textOf(value: CelValue | undefined): string {
  if (typeof value !== 'string') throw noSuchOverload()
  return value
}
