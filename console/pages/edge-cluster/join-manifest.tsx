import { useQuery } from '@tanstack/react-query'
import { objectPath } from '../../data/api-paths.ts'
import type { EdgeClusterObject } from '../../data/edge-cluster.ts'
import { asHubError } from '../../data/hub-error.ts'
import { askJson } from '../../data/hub-request.ts'
import { timeLimits } from '../../limits-table.ts'
import { Failed } from '../../parts/answer-state.tsx'
import { SecretText } from '../../parts/secret-text.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

interface JoinSecret {
  readonly data?: Readonly<Record<string, string>>
}

/** The manifest by which an imported cluster comes. Its Secret is there until the cluster is Ready. */
export function JoinManifest({ edge }: { readonly edge: EdgeClusterObject }) {
  const texts = useTexts(both)
  const { name, namespace } = edge.metadata
  const secret = { group: '', version: 'v1', resource: 'secrets', namespace, name: `${name}-join` }
  const path = objectPath(undefined, secret)
  const { data, error } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<JoinSecret>(path, { signal }),
    refetchInterval: timeLimits.askAgainMs,
  })
  if (error !== null) {
    const known = asHubError(error)
    return known.isMissing ? <p className="muted">{texts.noManifest}</p> : <Failed error={known} />
  }
  const manifest = textOf(data?.data?.['manifest'])
  if (manifest === '') return <p className="muted">{texts.noManifest}</p>
  return (
    <section className="panel">
      <h2>{texts.manifest}</h2>
      <p>{texts.manifestHint}</p>
      <SecretText text={manifest} secret={textOf(data?.data?.['token'])} isBlock />
    </section>
  )
}

function textOf(encoded = ''): string {
  return new TextDecoder().decode(Uint8Array.fromBase64(encoded))
}
