import { useMemo } from 'react'
import { navigate, useSearch } from 'wouter/use-browser-location'

export type UrlValues = Readonly<Record<string, string>>

/**
 * Keeps the filters of a page in its address, so that a link shows the same. An empty value leaves the address. The search
 * comes from the browser itself: the router's has some of its escapes decoded, so that `%26` would be read as `&`.
 */
export function useUrlValues(): [UrlValues, (change: UrlValues) => void] {
  const search = useSearch()
  const values = useMemo(() => readValues(search), [search])
  return [values, changeValues]
}

/** Two changes of one moment are both kept, because each begins with the address as it is then. */
function changeValues(change: UrlValues): void {
  const { pathname, search } = window.location
  const merged = Object.entries({ ...readValues(search), ...change })
  const query = new URLSearchParams(merged.filter(([, value]) => value !== '')).toString()
  const next = query === '' ? '' : `?${query}`
  if (next !== search) navigate(`${pathname}${next}`, { replace: true })
}

function readValues(search: string): UrlValues {
  return Object.fromEntries(new URLSearchParams(search))
}
