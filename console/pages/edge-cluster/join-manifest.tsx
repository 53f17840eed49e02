import { listPath } from '../../data/hub/api-paths.ts'
import { fromBase64 } from '../../data/hub/base64.ts'
import { useRetry, useWatched } from '../../data/streams/console-context.tsx'
import type { EdgeClusterObject } from '../../data/edge/edge-cluster.ts'
import { Failed } from '../../parts/answer-state.tsx'
import { SecretText } from '../../parts/secret-text.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const secrets = { group: '', version: 'v1', resource: 'secrets' }

interface JoinSecret {
  readonly data?: Readonly<Record<string, string>>
}

/** The manifest by which an imported cluster comes. Its Secret is there until the cluster is Ready. */
export function JoinManifest({ edge }: { readonly edge: EdgeClusterObject }) {
  const texts = useTexts(both)
  const { name, namespace } = edge.metadata
  const own = encodeURIComponent(`metadata.name=${name}-join`)
  const path = `${listPath(undefined, secrets, namespace)}?fieldSelector=${own}`
  const view = useWatched(path)
  const retry = useRetry(path)
  // A Secret of the API.
  const secret = view.items.get(`${namespace}/${name}-join`) as JoinSecret | undefined
  const manifest = fromBase64(secret?.data?.['manifest'] ?? '')
  if (view.error !== undefined) return <Failed error={view.error} onRetry={retry} />
  if (manifest === '') return <p className="muted">{texts.noManifest}</p>
  return (
    <section className="panel">
      <h2>{texts.manifest}</h2>
      <p>{texts.manifestHint}</p>
      <SecretText text={manifest} secret={fromBase64(secret?.data?.['token'] ?? '')} isBlock />
    </section>
  )
}
