/** Jobs that change the machines of many edge clusters. */
import { Link } from 'wouter'
import { edgeJobs } from '../../data/edge/edge-job.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { ResourceTable } from '../../parts/resource-table.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

export function JobsPage() {
  const texts = useTexts(both)
  const [{ namespace = '' }] = useUrlValues()
  const object = { ...edgeJobs, namespace, name: '' }
  return (
    <PageFrame
      title={texts.title}
      mark={<span className="muted">{texts.hint}</span>}
      actions={
        <Allowed action={{ verb: 'create', object }}>
          <Link href="/new-job" className="button is-main">
            <Icon name="add" />
            {texts.create}
          </Link>
        </Allowed>
      }
    >
      <ResourceTable
        cluster={undefined}
        resource={edgeJobs}
        isNamespaced
        emptyHint={<Link href="/new-job">{texts.create}</Link>}
        pageOf={({ namespace = '', name = '' }) =>
          `/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
        }
      />
    </PageFrame>
  )
}
