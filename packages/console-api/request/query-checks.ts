import type { StatusError } from '@skerry/api'

/** Returns the error for a query that is wrong for this reason. */
type Refused = (why: string) => StatusError

/** Throws for a parameter that is unknown or repeated: the answer would look filtered by it. */
export function requireKnown(
  query: URLSearchParams,
  names: ReadonlySet<string>,
  refused: Refused,
): void {
  for (const name of query.keys()) {
    if (!names.has(name)) throw refused(`there is no parameter "${name.slice(0, 64)}"`)
    if (query.getAll(name).length > 1) throw refused(`${name} is there twice`)
  }
}

/** Returns the number of lines or objects that a query asks for. Throws if it is not one. */
export function limitIn(
  query: URLSearchParams,
  { limitDefault, limitMax }: { readonly limitDefault: number; readonly limitMax: number },
  refused: Refused,
): number {
  const text = query.get('limit') ?? ''
  if (text === '') return limitDefault
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= limitMax) return limit
  throw refused(`limit must be a whole number from 1 to ${limitMax}`)
}
