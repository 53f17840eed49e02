import { useEffect, useRef } from 'react'
import type { Session } from '../data/hub/session.ts'
import { LoginPage } from '../pages/login/page.tsx'
import { useTexts } from '../words/language.ts'
import { appTexts } from './texts.ts'

interface LoginAgainProps {
  readonly onSession: (session: Session) => void
}

/** The login, over a page that keeps its fields until the same user is back. It hides the page, and cannot be closed. */
export function LoginAgain({ onSession }: LoginAgainProps) {
  const texts = useTexts(appTexts)
  const dialog = useRef<HTMLDialogElement>(null)
  const open = (): void => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }
  useEffect(open, [])
  return (
    <dialog
      ref={dialog}
      className="login-again"
      aria-label={texts.sessionEnded}
      onCancel={(event) => event.preventDefault()}
      onClose={open}
    >
      <p className="banner tone-warn" role="status">
        ▲ {texts.sessionEnded}
      </p>
      <LoginPage onSession={onSession} />
    </dialog>
  )
}
