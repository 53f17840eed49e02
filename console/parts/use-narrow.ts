import { useSyncExternalStore } from 'react'

/** The width below which the style sheet changes to the layout of a phone. */
const narrow = '(max-width: 760px)'

export function useNarrow(): boolean {
  return useSyncExternalStore(
    (listener) => {
      const query = matchMedia(narrow)
      query.addEventListener('change', listener)
      return () => query.removeEventListener('change', listener)
    },
    () => matchMedia(narrow).matches,
  )
}
