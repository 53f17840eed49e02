/** Returns a value of the same type that calls the inner one and may change its input and output. */
export type Wrapper<T> = (inner: T) => T

/** Wraps the core in each wrapper in order, so the last wrapper receives a call first. */
export function wrapped<T>(core: T, wrappers: readonly Wrapper<T>[]): T {
  return wrappers.reduce((inner, wrap) => wrap(inner), core)
}
