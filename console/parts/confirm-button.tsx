import { useEffect, useRef, useState } from 'react'
import type { ActionState } from '../data/hub/use-action.ts'
import { useTexts } from '../words/language.ts'
import { CopyButton } from './copy-button.tsx'
import { FaultLine } from './fault-line.tsx'
import { TextField } from './text-field.tsx'
import { partTexts } from './texts.ts'

interface ConfirmButtonProps {
  /** The text of the button, and the title of the question. */
  readonly label: string
  /** A person types this name; if omitted, a click is enough. */
  readonly name?: string
  /** The same action as a line for a shell. */
  readonly line?: string
  /** False if the action can be taken back. If omitted, it cannot. */
  readonly isBad?: boolean
  readonly action: ActionState
  readonly act: () => Promise<void>
  /** Called when it is done. */
  readonly onDone?: () => void
  /** The consequences, and further choices. */
  readonly children?: React.ReactNode
}

/** A button that does something only when that is confirmed: it names the consequences, and may ask for the name. */
export function ConfirmButton(props: ConfirmButtonProps) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        className={props.isBad === false ? 'button' : 'button is-bad'}
        onClick={() => setOpen(true)}
      >
        {props.label}
      </button>
      {isOpen ? <ConfirmDialog {...props} onClose={() => setOpen(false)} /> : undefined}
    </>
  )
}

interface ConfirmDialogProps extends ConfirmButtonProps {
  readonly onClose: () => void
}

function ConfirmDialog(props: ConfirmDialogProps) {
  const { label, name, line, isBad = true, action, act, onDone, children, onClose } = props
  const texts = useTexts(partTexts)
  const dialog = useRef<HTMLDialogElement>(null)
  const way = useRef<HTMLButtonElement>(null)
  const [typed, setTyped] = useState('')
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal()
    // The key that opened the question must not answer it as well.
    if (name === undefined) way.current?.focus()
  }, [name])
  const isMeant = name === undefined || typed.trim() === name
  const confirm = async (): Promise<void> => {
    if (!(await action.run(act))) return
    dialog.current?.close()
    onDone?.()
  }
  return (
    <dialog ref={dialog} className="dialog confirm" aria-label={label} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (isMeant) void confirm()
        }}
      >
        <h2>{label}</h2>
        {children}
        {name === undefined ? undefined : (
          <TextField label={texts.typeName(name)} value={typed} onChange={setTyped} />
        )}
        {line === undefined ? undefined : (
          <p className="command">
            <code>{line}</code>
            <CopyButton text={line} />
          </p>
        )}
        <FaultLine fault={action.fault} />
        <p className="empty-actions">
          <button
            type="submit"
            className={`button ${isBad ? 'is-bad' : 'is-main'}`}
            disabled={!isMeant || action.isBusy}
          >
            {label}
          </button>
          <button
            ref={way}
            type="button"
            className="button"
            onClick={() => dialog.current?.close()}
          >
            {texts.cancel}
          </button>
        </p>
      </form>
    </dialog>
  )
}
