import { useState, type SubmitEvent } from 'react'
import { useQuery } from '@tanstack/react-query'
import { asHubError, type HubError } from '../../data/hub/hub-error.ts'
import {
  beginSession,
  loginAddress,
  readOffers,
  type LoginProblem,
  type Session,
  type SessionCredential,
} from '../../data/hub/session.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const userCommand = 'skerry user add NAME'

interface LoginPageProps {
  readonly onSession: (session: Session) => void
  /** Nobody logged in again in time, and the entries in the page are gone. */
  readonly isDraftGone?: boolean
  /** Why the session that the address promised did not begin. */
  readonly error?: HubError
  /** Why a login at the issuer failed. */
  readonly problem?: LoginProblem
}

export function LoginPage(props: LoginPageProps) {
  const { onSession, isDraftGone = false, error: before, problem } = props
  const texts = useTexts(both)
  const offers = useQuery({ queryKey: ['offers'], queryFn: readOffers })
  const [error, setError] = useState<HubError>()
  const [isBusy, setBusy] = useState(false)
  const logIn = async (credential: SessionCredential): Promise<void> => {
    setBusy(true)
    setError(undefined)
    try {
      onSession(await beginSession(credential))
    } catch (thrown) {
      setError(asHubError(thrown))
      setBusy(false)
    }
  }
  const { certificate = false, issuer = null } = offers.data ?? {}
  return (
    <main className="login">
      <div className="login-card">
        <p className="brand">
          <span className="brand-mark" aria-hidden="true" />
          Skerry
        </p>
        <h1>{texts.title}</h1>
        {isDraftGone ? <p role="status">▲ {texts.draftGone}</p> : undefined}
        <LoginFault before={before} now={error} problem={problem} />
        <TokenForm isBusy={isBusy} onToken={(token) => void logIn({ token })} />
        {certificate || issuer !== null ? <p className="login-or">{texts.or}</p> : undefined}
        {issuer === null ? undefined : (
          <a className="button" href={loginAddress(issuer.loginURL, window.location.href)}>
            {texts.issuer(issuer.name)}
          </a>
        )}
        {certificate ? (
          <button type="button" className="button" disabled={isBusy} onClick={() => void logIn({})}>
            {texts.certificate}
          </button>
        ) : undefined}
        <p className="login-hint muted">{texts.tokenCommand}</p>
        <p className="command">
          <code>{userCommand}</code>
          <CopyButton text={userCommand} />
        </p>
      </div>
    </main>
  )
}

interface LoginFaultProps {
  readonly before: HubError | undefined
  readonly now: HubError | undefined
  readonly problem: LoginProblem | undefined
}

function LoginFault({ before, now, problem }: LoginFaultProps) {
  const texts = useTexts(both)
  if (now !== undefined) {
    const { code } = now.facts
    const text = code === 401 ? texts.wrong : code === 0 ? texts.noAnswer : now.message
    return (
      <p className="fault" role="alert">
        {text}
      </p>
    )
  }
  if (problem !== undefined) {
    return (
      <p className="fault" role="alert">
        {texts.problems[problem]}
      </p>
    )
  }
  if (before === undefined) return undefined
  const { code } = before.facts
  const isSpent = code === 401 || code === 403 || code === 410
  return (
    <p className="fault" role="alert">
      {isSpent ? texts.codeSpent : code === 0 ? texts.noAnswer : before.message}
    </p>
  )
}

interface TokenFormProps {
  readonly isBusy: boolean
  readonly onToken: (token: string) => void
}

/** The token lives in the field alone, and leaves it when it is sent. */
function TokenForm({ isBusy, onToken }: TokenFormProps) {
  const texts = useTexts(both)
  const onSubmit = (event: SubmitEvent<HTMLFormElement>): void => {
    event.preventDefault()
    const field = event.currentTarget.elements.namedItem('token')
    if (!(field instanceof HTMLInputElement)) return
    const token = field.value.trim()
    if (token === '') return
    field.value = ''
    onToken(token)
  }
  return (
    <form onSubmit={onSubmit}>
      <div className="field">
        <label htmlFor="token">{texts.token}</label>
        <input
          id="token"
          aria-describedby="token-hint"
          name="token"
          type="password"
          autoComplete="off"
          spellCheck={false}
          autoFocus
          required
        />
        <span id="token-hint" className="field-hint">
          {texts.tokenHint}
        </span>
      </div>
      <button type="submit" className="button is-main" disabled={isBusy}>
        {texts.logIn}
      </button>
    </form>
  )
}
