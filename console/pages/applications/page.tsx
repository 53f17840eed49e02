/** How objects of the hub are spread over the fleet: policies, overrides, bindings and works. */
import { KindBrowser } from '../../parts/kind-browser.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const groups = ['policy.karmada.io', 'work.karmada.io', 'apps.karmada.io', 'apps']

export function ApplicationsPage() {
  const texts = useTexts(both)
  return (
    <PageFrame title={texts.title} mark={<span className="muted">{texts.hint}</span>}>
      <KindBrowser
        cluster={undefined}
        groups={groups}
        first="propagationpolicies.policy.karmada.io"
      />
    </PageFrame>
  )
}
