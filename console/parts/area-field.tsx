import { FieldFrame, type FramedField } from './field-frame.tsx'

interface AreaFieldProps extends FramedField {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly rows: number
  readonly placeholder?: string
}

/** A field for several lines. */
export function AreaField({ value, onChange, rows, placeholder, ...framed }: AreaFieldProps) {
  return (
    <FieldFrame className="is-area" {...framed}>
      {(marks) => (
        <textarea
          {...marks}
          className="mono"
          rows={rows}
          value={value}
          placeholder={placeholder}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FieldFrame>
  )
}
