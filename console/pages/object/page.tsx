/** One object of any kind, in a cluster or at the hub itself. */
import { Link, useParams } from 'wouter'
import { readObjectPage } from '../../data/api-paths.ts'
import { ObjectYaml } from '../../parts/object-yaml.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

export function ObjectPage() {
  const texts = useTexts(both)
  const { cluster, object } = readObjectPage(useParams())
  return (
    <PageFrame
      title={object.name}
      above={
        <>
          {cluster === undefined ? (
            <span>{texts.hub}</span>
          ) : (
            <Link href={`/clusters/${encodeURIComponent(cluster)}/workloads`}>{cluster}</Link>
          )}
          {object.namespace === undefined ? undefined : <span>{object.namespace}</span>}
          <span>{object.resource}</span>
        </>
      }
    >
      <ObjectYaml cluster={cluster} object={object} />
    </PageFrame>
  )
}
