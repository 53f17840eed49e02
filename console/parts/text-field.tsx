import { useId } from 'react'

interface TextFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly hint?: string
  readonly placeholder?: string
  /** Why the server refuses the value. */
  readonly fault?: string | undefined
}

/** A field with its name over it, and the server's fault, or else a hint, under it. */
export function TextField({ label, value, onChange, hint, placeholder, fault }: TextFieldProps) {
  const id = useId()
  const note = fault ?? hint
  return (
    <div className={fault === undefined ? 'field' : 'field has-fault'}>
      <label htmlFor={`${id}-input`}>{label}</label>
      <input
        id={`${id}-input`}
        value={value}
        placeholder={placeholder}
        spellCheck={false}
        autoComplete="off"
        aria-invalid={fault !== undefined}
        aria-describedby={note === undefined ? undefined : id}
        onChange={(event) => onChange(event.target.value)}
      />
      {note === undefined ? undefined : (
        <span id={id} className="field-hint">
          {fault === undefined ? '' : '✕ '}
          {note}
        </span>
      )}
    </div>
  )
}
