/** Every page reads these: the stream of watches, the session, and hooks over them. */
import { createContext, useCallback, useContext, useSyncExternalStore } from 'react'
import type { Session } from '../hub/session.ts'
import type { StreamState, WatchRequest, WatchStream } from './watch-stream.ts'
import type { ListView } from './watched-list.ts'

export interface ConsoleContext {
  readonly stream: WatchStream
  readonly session: Session
}

export const ConsoleContextOf = createContext<ConsoleContext | undefined>(undefined)

export function useConsole(): ConsoleContext {
  const context = useContext(ConsoleContextOf)
  if (context === undefined) throw new Error('Cannot draw page: it is outside of the console')
  return context
}

const loading: ListView = { phase: 'loading', items: new Map(), columns: [] }

/** Watches a list as long as the page is shown. Undefined watches nothing. */
export function useWatched(path: string | undefined, isTable = false): ListView {
  const { stream } = useConsole()
  const subscribe = useCallback(
    (listener: () => void) =>
      path === undefined ? () => undefined : stream.watch({ path, isTable }, listener),
    [stream, path, isTable],
  )
  const view = (): ListView =>
    path === undefined ? loading : (stream.view({ path, isTable }) ?? loading)
  return useSyncExternalStore(subscribe, view)
}

export function useRetry(path: string, isTable = false): () => void {
  const { stream } = useConsole()
  const request: WatchRequest = { path, isTable }
  return () => stream.retry(request)
}

export function useStreamState(): StreamState {
  const { stream } = useConsole()
  const subscribe = useCallback((listener: () => void) => stream.onState(listener), [stream])
  return useSyncExternalStore(subscribe, () => stream.state)
}
