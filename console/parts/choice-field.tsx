interface ChoiceFieldProps<Key extends string> {
  readonly label: string
  readonly value: Key
  readonly choices: readonly (readonly [key: Key, title: string])[]
  readonly onChange: (key: Key) => void
}

/** A short list of which one is chosen. */
export function ChoiceField<Key extends string>(props: ChoiceFieldProps<Key>) {
  const { label, value, choices, onChange } = props
  return (
    <label className="select">
      <span>{label}</span>
      <select
        value={value}
        onChange={(event) => {
          const chosen = choices.find(([key]) => key === event.target.value)
          if (chosen !== undefined) onChange(chosen[0])
        }}
      >
        {choices.map(([key, title]) => (
          <option key={key} value={key}>
            {title}
          </option>
        ))}
      </select>
    </label>
  )
}
