import { useMemo } from 'react'
import { useParams } from 'wouter'
import { pathWord } from './path-words.ts'

/** Returns the parameters of the page's path, such as the name of a cluster. */
export function usePathWords(): Readonly<Record<string, string | undefined>> {
  const params = useParams<Record<string, string | undefined>>()
  return useMemo(
    () =>
      Object.fromEntries(
        Object.entries(params).map(([name, word]) => [
          name,
          word === undefined ? undefined : pathWord(word),
        ]),
      ),
    [params],
  )
}
