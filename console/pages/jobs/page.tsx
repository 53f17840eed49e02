/** Jobs that change the machines of many edge clusters. */
import { Link } from 'wouter'
import { edgeJobs } from '../../data/edge-job.ts'
import { Icon } from '../../parts/icon.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { ResourceTable } from '../../parts/resource-table.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

export function JobsPage() {
  const texts = useTexts(both)
  return (
    <PageFrame
      title={texts.title}
      mark={<span className="muted">{texts.hint}</span>}
      actions={
        <Link href="/new-job" className="button is-main">
          <Icon name="add" />
          {texts.create}
        </Link>
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
