import { FieldFrame, type FramedField } from './field-frame.tsx'

interface TextFieldProps extends FramedField {
  readonly value: string
  readonly onChange: (value: string) => void
  readonly placeholder?: string
}

/** A field for one line. */
export function TextField({ value, onChange, placeholder, ...framed }: TextFieldProps) {
  return (
    <FieldFrame {...framed}>
      {(marks) => (
        <input
          {...marks}
          value={value}
          placeholder={placeholder}
          autoComplete="off"
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </FieldFrame>
  )
}
