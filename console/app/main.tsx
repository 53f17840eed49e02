/** The console begins here: with a session it shows the shell, without one the login. */
import { useCallback, useEffect, useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Router } from 'wouter'
import { browserClock } from '../data/browser-clock.ts'
import { ConsoleContextOf } from '../data/console-context.tsx'
import { beginningOf, firstPage } from '../data/first-page.ts'
import { learnHubTime } from '../data/hub-clock.ts'
import { asHubError, type HubError } from '../data/hub-error.ts'
import { onSignedOut } from '../data/hub-request.ts'
import {
  beginSession,
  endSession,
  readSession,
  takeLoginCode,
  type Session,
} from '../data/session.ts'
import { streamPath, streamProtocol } from '../data/stream-frames.ts'
import { WatchStream, type StreamSocket } from '../data/watch-stream.ts'
import { LoginPage } from '../pages/login/page.tsx'
import { Loading } from '../parts/answer-state.tsx'
import { language } from '../words/language.ts'
import { showDensity } from '../words/density.ts'
import { showTheme } from '../words/theme.ts'
import { Shell } from './shell.tsx'

type Login =
  | { readonly is: 'asking' }
  | { readonly is: 'out'; readonly error?: HubError }
  | { readonly is: 'in'; readonly session: Session }

function Console({ code }: { readonly code: string | undefined }) {
  const [login, setLogin] = useState<Login>({ is: 'asking' })
  useEffect(() => {
    const asked = code === undefined ? readSession() : beginSession({ code })
    void asked.then(
      (session) => setLogin(session === undefined ? { is: 'out' } : { is: 'in', session }),
      (thrown: unknown) => setLogin({ is: 'out', error: asHubError(thrown) }),
    )
  }, [code])
  useEffect(() => onSignedOut(() => setLogin({ is: 'out' })), [])
  if (login.is === 'asking') return <Loading />
  if (login.is === 'out') {
    const onSession = (session: Session): void => setLogin({ is: 'in', session })
    return (
      <LoginPage
        onSession={onSession}
        {...(login.error === undefined ? {} : { error: login.error })}
      />
    )
  }
  return <LoggedIn session={login.session} onEnd={() => setLogin({ is: 'out' })} />
}

interface LoggedInProps {
  readonly session: Session
  readonly onEnd: () => void
}

function LoggedIn({ session, onEnd }: LoggedInProps) {
  const stream = useMemo(openStream, [])
  useEffect(() => {
    const onVisibility = (): void => stream.setHidden(document.hidden)
    const onOnline = (): void => stream.redial()
    document.addEventListener('visibilitychange', onVisibility)
    window.addEventListener('online', onOnline)
    return () => {
      document.removeEventListener('visibilitychange', onVisibility)
      window.removeEventListener('online', onOnline)
      stream.stop()
    }
  }, [stream])
  const context = useMemo(() => ({ stream, session }), [stream, session])
  const logOut = useCallback(() => {
    stream.stop()
    void endSession().then(onEnd, onEnd)
  }, [stream, onEnd])
  return (
    <ConsoleContextOf value={context}>
      <Shell onLogOut={logOut} />
    </ConsoleContextOf>
  )
}

function openStream(): WatchStream {
  const dial = (): StreamSocket =>
    browserSocket(new WebSocket(`wss://${location.host}${streamPath}`, streamProtocol))
  return new WatchStream({
    clock: browserClock,
    dial,
    random: Math.random,
    onBeat: learnHubTime,
  })
}

/** A browser's socket calls with events of its own type. */
function browserSocket(socket: WebSocket): StreamSocket {
  const stream: StreamSocket = {
    send: (text) => socket.send(text),
    close: () => socket.close(),
    onopen: null,
    onmessage: null,
    onclose: null,
  }
  socket.addEventListener('open', () => stream.onopen?.())
  socket.addEventListener('message', ({ data }: MessageEvent<unknown>) =>
    stream.onmessage?.({ data }),
  )
  socket.addEventListener('close', ({ code, reason }) => stream.onclose?.({ code, reason }))
  return stream
}

function start(): void {
  const login = takeLoginCode(location.href)
  if (login !== undefined) history.replaceState(null, '', login.cleanUrl)
  const begin = beginningOf(location.href, firstPage())
  if (begin !== undefined) history.replaceState(null, '', begin)
  showTheme()
  showDensity()
  document.documentElement.lang = language()
  const queries = new QueryClient({
    defaultOptions: { queries: { retry: false, staleTime: 5_000, refetchOnWindowFocus: false } },
  })
  const room = document.querySelector('#root')
  if (room === null) throw new Error('Cannot start console: the page has no room for it')
  createRoot(room).render(
    <QueryClientProvider client={queries}>
      <Router base="/console">
        <Console code={login?.code} />
      </Router>
    </QueryClientProvider>,
  )
}

start()
