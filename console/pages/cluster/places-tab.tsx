/** The places of a cluster: what runs in each of them, and the units, groups and pools of nodes that they are. */
import { useMemo } from 'react'
import { useKinds } from '../../data/objects/use-kinds.ts'
import { placeKinds, servedAs } from '../../data/places/node-places.ts'
import { placedKinds } from '../../data/places/placed-application.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { useTexts } from '../../words/language.ts'
import { NodePlaces } from './node-places.tsx'
import { PlacedApplications } from './placed-applications.tsx'
import { placesTexts as both } from './places-texts.ts'

const option = '--edge-apps superedge,kubeedge,openyurt'

export function ClusterPlaces({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const { kinds, error, retry } = useKinds(cluster)
  const served = useMemo(() => placedKinds.flatMap((kind) => servedAs(kinds, kind) ?? []), [kinds])
  const hasPlaces = placeKinds.some((kind) => servedAs(kinds, kind) !== undefined)
  if (kinds === undefined) {
    return error === undefined ? <Loading /> : <Failed error={error} onRetry={retry} />
  }
  if (served.length === 0 && !hasPlaces) {
    return (
      <Empty title={texts.noKinds}>
        <p className="empty-text">{texts.noKindsHint}</p>
        <p className="command">
          <code>{option}</code>
          <CopyButton text={option} />
        </p>
      </Empty>
    )
  }
  return (
    <>
      {served.length === 0 ? undefined : <PlacedApplications cluster={cluster} served={served} />}
      {hasPlaces ? <NodePlaces cluster={cluster} kinds={kinds} /> : undefined}
    </>
  )
}
