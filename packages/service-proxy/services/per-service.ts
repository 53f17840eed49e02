import type { Service } from '@skerry/api'

/**
 * Returns a function that computes something for a service, and remembers it for as long as the service and all parts are
 * the same objects. Objects of an informer never change, and a change of one service leaves a thousand others alone.
 */
export function perService<T>(): (
  service: Service,
  parts: readonly unknown[],
  compute: () => T,
) => T {
  const known = new WeakMap<Service, { readonly parts: readonly unknown[]; readonly value: T }>()
  return (service, parts, compute) => {
    const last = known.get(service)
    if (last && isSameList(last.parts, parts)) return last.value
    const value = compute()
    known.set(service, { parts, value })
    return value
  }
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((each, at) => each === b[at])
}
