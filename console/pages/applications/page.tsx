/** Objects of the hub that are spread over the fleet. A binding stands for each of them. */
import { Link } from 'wouter'
import { kindKey, type DiscoveredKind } from '../../data/objects/discovered-kinds.ts'
import { applicationPage } from '../../data/fleet/explanation.ts'
import type { RowMetadata } from '../../data/objects/table-rows.ts'
import { KindBrowser } from '../../parts/kind-browser.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const groups = ['work.karmada.io', 'policy.karmada.io', 'apps.karmada.io', 'apps']

export function ApplicationsPage() {
  const texts = useTexts(both)
  return (
    <PageFrame title={texts.title} mark={<span className="muted">{texts.hint}</span>}>
      <KindBrowser
        cluster={undefined}
        groups={groups}
        first="resourcebindings.work.karmada.io"
        pageOf={pageOf}
        emptyHintOf={(kind) =>
          bindings.has(kindKey(kind)) ? <Link href="/new-policy">{texts.create}</Link> : undefined
        }
      />
    </PageFrame>
  )
}

const bindings = new Set([
  'resourcebindings.work.karmada.io',
  'clusterresourcebindings.work.karmada.io',
])

function pageOf(kind: DiscoveredKind, metadata: RowMetadata): string | undefined {
  return bindings.has(kindKey(kind)) ? applicationPage(metadata) : undefined
}
