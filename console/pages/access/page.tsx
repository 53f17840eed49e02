/** The rules that say who may do what in the clusters of the fleet, and at the hub. */
import { KindBrowser } from '../../parts/kind-browser.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const groups = ['hub.skerry.io', 'rbac.authorization.k8s.io']

export function AccessPage() {
  const texts = useTexts(both)
  return (
    <PageFrame title={texts.title} mark={<span className="muted">{texts.hint}</span>}>
      <KindBrowser cluster={undefined} groups={groups} first="clusteraccesses.hub.skerry.io" />
    </PageFrame>
  )
}
