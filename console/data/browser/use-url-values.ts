import { useCallback, useMemo } from 'react'
import { useLocation, useSearch } from 'wouter'

export type UrlValues = Readonly<Record<string, string>>

/** Keeps the filters of a page in its address, so that a link shows the same. An empty value leaves the address. */
export function useUrlValues(): [UrlValues, (change: UrlValues) => void] {
  const search = useSearch()
  const [location, navigate] = useLocation()
  const values = useMemo(() => Object.fromEntries(new URLSearchParams(search)), [search])
  const change = useCallback(
    (next: UrlValues) => {
      const merged = Object.entries({ ...values, ...next }).filter(([, value]) => value !== '')
      const query = new URLSearchParams(merged).toString()
      navigate(query === '' ? location : `${location}?${query}`, { replace: true })
    },
    [values, location, navigate],
  )
  return [values, change]
}
