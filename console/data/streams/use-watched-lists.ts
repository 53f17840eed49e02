import { useMemo, useSyncExternalStore } from 'react'
import { useConsole } from './console-context.tsx'
import type { WatchStream } from './watch-stream.ts'
import type { ListView } from './watched-list.ts'

/** Watches several lists of objects as long as the page is shown. The views are in the order of the paths. */
export function useWatchedLists(paths: readonly string[]): readonly ListView[] {
  const { stream } = useConsole()
  const key = JSON.stringify(paths)
  const lists = useMemo(() => listsOf(stream, key), [stream, key])
  return useSyncExternalStore(lists.subscribe, lists.views)
}

const loading: ListView = { phase: 'loading', items: new Map(), columns: [] }

interface Lists {
  readonly subscribe: (listener: () => void) => () => void
  /** Returns the same array until one of the views has changed. */
  readonly views: () => readonly ListView[]
}

function listsOf(stream: WatchStream, key: string): Lists {
  // The key is the JSON of texts.
  const paths = JSON.parse(key) as readonly string[]
  const requests = paths.map((path) => ({ path, isTable: false }))
  let last: readonly ListView[] = requests.map(() => loading)
  return {
    subscribe: (listener) => {
      const ends = requests.map((request) => stream.watch(request, listener))
      return () => {
        for (const end of ends) end()
      }
    },
    views: () => {
      const next = requests.map((request) => stream.view(request) ?? loading)
      if (next.some((view, at) => view !== last[at])) last = next
      return last
    },
  }
}
