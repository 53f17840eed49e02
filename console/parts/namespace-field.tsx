import { useEffect, useEffectEvent, useState } from 'react'
import { browserClock } from '../data/browser/browser-clock.ts'
import { timeLimits } from '../limits-table.ts'
import { useTexts } from '../words/language.ts'
import { resourceTexts } from './resource-texts.ts'

interface NamespaceFieldProps {
  readonly value: string
  readonly onChange: (namespace: string) => void
}

/** Half a name is another namespace, so that a page asks for it only when nobody has typed for a moment. */
export function NamespaceField({ value, onChange }: NamespaceFieldProps) {
  const texts = useTexts(resourceTexts)
  const [typed, setTyped] = useState<string>()
  const settle = useEffectEvent((text: string) => {
    setTyped(undefined)
    onChange(text.trim())
  })
  useEffect(() => {
    if (typed === undefined) return
    const timer = browserClock.after(timeLimits.pauseMs, () => settle(typed))
    return () => timer.cancel()
  }, [typed])
  return (
    <label className="select">
      <span>{texts.namespace}</span>
      <input
        className="namespace"
        value={typed ?? value}
        placeholder={texts.allNamespaces}
        spellCheck={false}
        onChange={(event) => setTyped(event.target.value)}
      />
    </label>
  )
}
