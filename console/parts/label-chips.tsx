interface LabelChipsProps {
  readonly labels: Readonly<Record<string, string>> | undefined
  readonly onChoose?: (label: string) => void
}

/** Labels as they were written. A click filters by one. */
export function LabelChips({ labels = {}, onChoose }: LabelChipsProps) {
  return (
    <span className="chips">
      {Object.entries(labels).map(([key, value]) => {
        const text = value === '' ? key : `${key}=${value}`
        return onChoose === undefined ? (
          <span key={key} className="chip" title={text}>
            {text}
          </span>
        ) : (
          <button
            key={key}
            type="button"
            className="chip"
            title={text}
            onClick={() => onChoose(text)}
          >
            {text}
          </button>
        )
      })}
    </span>
  )
}
