import { hubNowMs } from '../data/hub/hub-clock.ts'
import { useNow } from '../data/hub/use-now.ts'
import { useLanguage, useTexts } from '../words/language.ts'
import { momentText, nextChangeMs, spanText } from '../words/time-texts.ts'
import { partTexts } from './texts.ts'

interface AgeProps {
  /** The moment by the hub's clock; undefined for never. */
  readonly atMs: number | undefined
  /** `3 min` in place of `3 min ago`. */
  readonly isBare?: boolean
}

/** How long ago something was, counted on; the exact moment, in both zones, appears over it. */
export function Age({ atMs, isBare = false }: AgeProps) {
  const language = useLanguage()
  const texts = useTexts(partTexts)
  const nowMs = useNow(atMs === undefined ? 60_000 : nextChangeMs(hubNowMs() - atMs))
  if (atMs === undefined || Number.isNaN(atMs)) return <span>{texts.never}</span>
  const span = spanText(nowMs - atMs, language)
  return (
    <time dateTime={new Date(atMs).toISOString()} title={momentText(atMs, language)}>
      {isBare ? span : texts.ago(span)}
    </time>
  )
}
