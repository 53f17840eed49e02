/** Objects of any kind at the hub itself. */
import { KindBrowser } from '../../parts/kind-browser.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

export function HubObjectsPage() {
  const texts = useTexts(both)
  return (
    <PageFrame title={texts.title}>
      <KindBrowser cluster={undefined} first="namespaces" />
    </PageFrame>
  )
}
