import { browserClock } from '../data/browser/browser-clock.ts'
import { useNow } from '../data/hub/use-now.ts'
import type { ListView } from '../data/streams/watched-list.ts'
import { useLanguage, useTexts } from '../words/language.ts'
import { spanText } from '../words/time-texts.ts'
import { partTexts } from './texts.ts'

/** Says whether the page shows what is, or what was, and when. */
export function Freshness({ view }: { readonly view: ListView }) {
  const texts = useTexts(partTexts)
  const language = useLanguage()
  useNow(view.phase === 'live' ? 60_000 : 1_000)
  if (view.phase === 'live') return <span className="freshness tone-ok">● {texts.live}</span>
  const { asOfMs } = view
  if (view.phase === 'loading' || view.phase === 'ended' || asOfMs === undefined) return undefined
  const span = spanText(browserClock.nowMs() - asOfMs, language)
  return (
    <span className="freshness tone-away" title={view.message} role="status">
      ◌ {texts.asOf(span)}
    </span>
  )
}
