/** The clusters that the hub makes of machines. */
import { Link } from 'wouter'
import { edgeClusters } from '../../data/edge/edge-cluster.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { ResourceTable } from '../../parts/resource-table.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

export function EdgeClustersPage() {
  const texts = useTexts(both)
  const [{ namespace = '' }] = useUrlValues()
  const object = { ...edgeClusters, namespace, name: '' }
  return (
    <PageFrame
      title={texts.title}
      actions={
        <Allowed action={{ verb: 'create', object }}>
          <Link href="/new-edge-cluster" className="button is-main">
            <Icon name="add" />
            {texts.create}
          </Link>
        </Allowed>
      }
    >
      <ResourceTable
        cluster={undefined}
        resource={edgeClusters}
        isNamespaced
        emptyHint={<Link href="/new-edge-cluster">{texts.create}</Link>}
        pageOf={({ namespace = '', name = '' }) =>
          `/edge-clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
        }
      />
    </PageFrame>
  )
}
