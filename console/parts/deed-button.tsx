/** A button that says what it will do, and does it only when that is confirmed. */
import { useEffect, useId, useRef, useState } from 'react'
import { asHubError, type HubError } from '../data/hub-error.ts'
import { useTexts } from '../words/language.ts'
import { CopyButton } from './copy-button.tsx'
import { partTexts } from './texts.ts'

interface DeedButtonProps {
  readonly title: string
  /** The consequences, and fields of the deed if it has any. */
  readonly children: React.ReactNode
  /** The same deed as a line for a shell. */
  readonly line: string
  readonly isBad?: boolean
  /** Rejects with the server's refusal, which is shown. */
  readonly onConfirm: () => Promise<void>
}

export function DeedButton(props: DeedButtonProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        {props.title}
      </button>
      {isOpen ? <DeedDialog {...props} onClose={() => setOpen(false)} /> : undefined}
    </>
  )
}

function DeedDialog(props: DeedButtonProps & { readonly onClose: () => void }) {
  const { title, children, line, isBad = false, onConfirm, onClose } = props
  const texts = useTexts(partTexts)
  const id = useId()
  const dialog = useRef<HTMLDialogElement>(null)
  const [state, setState] = useState<{ readonly isBusy: boolean; readonly error?: HubError }>({
    isBusy: false,
  })
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
  }, [])
  const confirm = async (): Promise<void> => {
    setState({ isBusy: true })
    try {
      await onConfirm()
      dialog.current?.close()
    } catch (thrown) {
      setState({ isBusy: false, error: asHubError(thrown) })
    }
  }
  return (
    <dialog ref={dialog} className="dialog" aria-labelledby={id} onClose={onClose}>
      <form
        className="deed"
        onSubmit={(event) => {
          event.preventDefault()
          void confirm()
        }}
      >
        <h2 id={id}>{title}</h2>
        {children}
        <p className="command">
          <code>{line}</code>
          <CopyButton text={line} />
        </p>
        {state.error === undefined ? undefined : (
          <p className="fault" role="alert">
            {state.error.message}
          </p>
        )}
        <p className="empty-actions">
          <button
            type="submit"
            className={`button ${isBad ? 'is-bad' : 'is-main'}`}
            disabled={state.isBusy}
          >
            {title}
          </button>
          <button type="button" className="button" onClick={() => dialog.current?.close()}>
            {texts.cancel}
          </button>
        </p>
      </form>
    </dialog>
  )
}
