/** The console begins here: with a session it shows the shell, without one the login. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { QueryClient, QueryClientProvider, useQueryClient } from '@tanstack/react-query'
import { Router, useLocation } from 'wouter'
import { browserClock } from '../data/browser/browser-clock.ts'
import { ConsoleContextOf } from '../data/streams/console-context.tsx'
import { beginningOf, firstPage } from '../data/browser/first-page.ts'
import { learnHubTime } from '../data/hub/hub-clock.ts'
import { asHubError, type HubError } from '../data/hub/hub-error.ts'
import { lookForSession, onSignedOut } from '../data/hub/hub-request.ts'
import {
  endSession,
  readSession,
  sessionOfCode,
  takeLoginCode,
  takeLoginProblem,
  type LoginProblem,
  type Session,
} from '../data/hub/session.ts'
import { streamPath, streamProtocol } from '../data/streams/stream-frames.ts'
import { WatchStream, type StreamSocket } from '../data/streams/watch-stream.ts'
import { timeLimits } from '../limits-table.ts'
import { LoginPage } from '../pages/login/page.tsx'
import { Loading } from '../parts/answer-state.tsx'
import { language } from '../words/language.ts'
import { showDensity } from '../words/density.ts'
import { showTheme } from '../words/theme.ts'
import { LoginAgain } from './login-again.tsx'
import { Shell } from './shell.tsx'

type Login =
  | { readonly is: 'asking' }
  | {
      readonly is: 'out'
      readonly error?: HubError
      readonly problem?: LoginProblem | undefined
      readonly isDraftGone?: boolean
    }
  | { readonly is: 'in'; readonly session: Session }
  /** The session is over, and the page behind the login keeps what was typed into it. */
  | { readonly is: 'ended'; readonly session: Session }

interface ConsoleProps {
  /** The one-time code of the address. */
  readonly code: string | undefined
  /** Why a login at the issuer did not begin a session. */
  readonly problem: LoginProblem | undefined
}

function Console({ code, problem }: ConsoleProps) {
  const [login, setLogin] = useState<Login>({ is: 'asking' })
  useEffect(() => {
    const asked = code === undefined ? readSession() : sessionOfCode(code)
    void asked.then(
      (session) => setLogin(session === undefined ? { is: 'out', problem } : { is: 'in', session }),
      (thrown: unknown) => setLogin({ is: 'out', error: asHubError(thrown) }),
    )
  }, [code, problem])
  const draft = useDraft()
  useEffect(
    () =>
      onSignedOut(() =>
        setLogin((before) => {
          if (before.is === 'asking' || before.is === 'out') return before
          return draft.isThere() ? { is: 'ended', session: before.session } : { is: 'out' }
        }),
      ),
    [draft],
  )
  useEffect(() => {
    if (login.is !== 'ended') return
    const timer = browserClock.after(timeLimits.draftKeptMs, () =>
      setLogin({ is: 'out', isDraftGone: true }),
    )
    return () => timer.cancel()
  }, [login.is])
  const isWaiting = login.is === 'out' || login.is === 'ended'
  useEffect(() => {
    if (!isWaiting) return
    // Somebody may have logged in meanwhile, in another tab.
    const onVisibility = (): void => {
      if (document.hidden) return
      void readSession().then(
        (session) => session !== undefined && setLogin({ is: 'in', session }),
        () => undefined,
      )
    }
    document.addEventListener('visibilitychange', onVisibility)
    return () => document.removeEventListener('visibilitychange', onVisibility)
  }, [isWaiting])
  if (login.is === 'asking') return <Loading />
  const onSession = (session: Session): void => setLogin({ is: 'in', session })
  if (login.is === 'out') {
    const { error, problem: failed, isDraftGone = false } = login
    return (
      <LoginPage
        onSession={onSession}
        isDraftGone={isDraftGone}
        {...(error === undefined ? {} : { error })}
        {...(failed === undefined ? {} : { problem: failed })}
      />
    )
  }
  const { session } = login
  const isOver = login.is === 'ended'
  return (
    <div className="session" onInput={draft.note}>
      <LoggedIn
        key={session.user}
        session={session}
        isOver={isOver}
        onEnd={() => setLogin({ is: 'out' })}
      />
      {isOver ? <LoginAgain onSession={onSession} /> : undefined}
    </div>
  )
}

/** Remembers whether somebody has typed something into the page that is shown. */
function useDraft() {
  const [location] = useLocation()
  const isTyped = useRef(false)
  useEffect(() => {
    isTyped.current = false
  }, [location])
  return useMemo(
    () => ({
      isThere: () => isTyped.current,
      note: () => {
        isTyped.current = true
      },
    }),
    [],
  )
}

interface LoggedInProps {
  readonly session: Session
  /** The session has ended, and a login may follow. */
  readonly isOver: boolean
  readonly onEnd: () => void
}

function LoggedIn({ session, isOver, onEnd }: LoggedInProps) {
  const stream = useMemo(openStream, [])
  const queries = useQueryClient()
  useEffect(() => {
    if (!isOver) return
    stream.rest()
    return () => {
      stream.wake()
      void queries.invalidateQueries()
    }
  }, [isOver, stream, queries])
  // Answers and rights of one user are not those of the next.
  useEffect(() => () => queries.clear(), [queries])
  // A break may be the end of the session: the hub refuses the next stream without a word.
  useEffect(
    () =>
      stream.onState(() => {
        if (stream.state.is === 'away') void lookForSession()
      }),
    [stream],
  )
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
  const failed = takeLoginProblem(location.href)
  if (failed !== undefined) history.replaceState(null, '', failed.cleanUrl)
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
        <Console code={login?.code} problem={failed?.problem} />
      </Router>
    </QueryClientProvider>,
  )
}

start()
