import { useId } from 'react'

interface AreaFieldProps {
  readonly label: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly rows: number
  readonly hint?: string
  readonly placeholder?: string
  readonly fault?: string | undefined
}

/** A field for several lines. */
export function AreaField(props: AreaFieldProps) {
  const { label, value, onChange, rows, hint, placeholder, fault } = props
  const id = useId()
  const note = fault ?? hint
  return (
    <div className={fault === undefined ? 'field is-area' : 'field is-area has-fault'}>
      <label htmlFor={`${id}-input`}>{label}</label>
      <textarea
        id={`${id}-input`}
        className="mono"
        rows={rows}
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
