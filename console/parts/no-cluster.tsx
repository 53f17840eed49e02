import { Link } from 'wouter'
import { useTexts } from '../words/language.ts'
import { Empty } from './answer-state.tsx'
import { partTexts } from './texts.ts'

/** Stands for a cluster that is not in the fleet as the user sees it. */
export function NoCluster({ name }: { readonly name: string }) {
  const texts = useTexts(partTexts)
  return (
    <Empty title={texts.noCluster(name)}>
      <p className="empty-text">{texts.noClusterHint}</p>
      <p className="empty-actions">
        <Link href="/clusters" className="button">
          {texts.toClusters}
        </Link>
        <Link href="/connect" className="button">
          {texts.toConnect}
        </Link>
      </p>
    </Empty>
  )
}
