/** Stands in front of something of the same type: it may change what goes in and what comes out. */
export type Wrapper<T> = (inner: T) => T

/** Puts the wrappers around the core in their order: the last one sees a call first. */
export function wrapped<T>(core: T, wrappers: readonly Wrapper<T>[]): T {
  return wrappers.reduce((inner, wrap) => wrap(inner), core)
}
