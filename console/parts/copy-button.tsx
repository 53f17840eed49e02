import { useState } from 'react'
import { browserClock } from '../data/browser/browser-clock.ts'
import { timeLimits } from '../limits-table.ts'
import { useTexts } from '../words/language.ts'
import { Icon } from './icon.tsx'
import { partTexts } from './texts.ts'

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
}

/** Confirms in place that the text is in the clipboard, or says that the browser does not permit it. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const texts = useTexts(partTexts)
  const [outcome, setOutcome] = useState<'copied' | 'refused'>()
  const copy = async (): Promise<void> => {
    const next = await navigator.clipboard.writeText(text).then(
      () => 'copied' as const,
      () => 'refused' as const,
    )
    setOutcome(next)
    browserClock.after(timeLimits.confirmedMs, () => setOutcome(undefined))
  }
  const title = label ?? texts.copy
  return (
    <button type="button" className="button is-quiet" title={title} onClick={() => void copy()}>
      <Icon name={outcome === 'copied' ? 'check' : 'copy'} />
      <span aria-live="polite">{outcome === undefined ? title : texts[outcome]}</span>
    </button>
  )
}
