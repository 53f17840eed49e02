import { useId } from 'react'

export interface FramedField {
  readonly label: string
  readonly hint?: string | undefined
  /** Why the server refuses the value. */
  readonly fault?: string | undefined
}

/** The attributes of the element in the frame. */
interface FieldMarks {
  readonly id: string
  readonly spellCheck: false
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

interface FieldFrameProps extends FramedField {
  readonly className?: string
  readonly children: (marks: FieldMarks) => React.ReactNode
}

/** The name of a field over it, and the server's fault, or else a hint, under it. */
export function FieldFrame({ label, hint, fault, className, children }: FieldFrameProps) {
  const id = useId()
  const note = fault ?? hint
  const classes = ['field', className, fault === undefined ? undefined : 'has-fault']
  return (
    <div className={classes.filter((each) => each !== undefined).join(' ')}>
      <label htmlFor={`${id}-input`}>{label}</label>
      {children({
        id: `${id}-input`,
        spellCheck: false,
        'aria-invalid': fault !== undefined,
        'aria-describedby': note === undefined ? undefined : id,
      })}
      {note === undefined ? undefined : (
        <span id={id} className="field-hint">
          {fault === undefined ? '' : '✕ '}
          {note}
        </span>
      )}
    </div>
  )
}
