import { useState } from 'react'
import { browserClock } from '../data/browser-clock.ts'
import { timeLimits } from '../limits-table.ts'
import { useTexts } from '../words/language.ts'
import { Icon } from './icon.tsx'
import { partTexts } from './texts.ts'

interface CopyButtonProps {
  readonly text: string
  readonly label?: string
}

/** Confirms in place that the text is in the clipboard. */
export function CopyButton({ text, label }: CopyButtonProps) {
  const texts = useTexts(partTexts)
  const [isCopied, setCopied] = useState(false)
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(text)
    setCopied(true)
    browserClock.after(timeLimits.confirmedMs, () => setCopied(false))
  }
  const title = label ?? texts.copy
  return (
    <button type="button" className="button is-quiet" title={title} onClick={() => void copy()}>
      <Icon name={isCopied ? 'check' : 'copy'} />
      <span aria-live="polite">{isCopied ? texts.copied : title}</span>
    </button>
  )
}
