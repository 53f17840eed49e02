import { useState } from 'react'
import { Link } from 'wouter'
import { objectPage } from '../../data/hub/api-paths.ts'
import { useRetry, useWatched } from '../../data/streams/console-context.tsx'
import { hubNowMs } from '../../data/hub/hub-clock.ts'
import { viewLimits } from '../../limits-table.ts'
import { Age } from '../../parts/age.tsx'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { Freshness } from '../../parts/freshness.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { useTexts } from '../../words/language.ts'
import { joinedNodes, type NodeObject } from './joined-nodes.ts'
import { texts as both } from './texts.ts'

const nodes = { group: '', version: 'v1', resource: 'nodes' }

/** Nodes appear here unasked, seconds after they have joined. */
export function JoinedList({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const [sinceMs] = useState(hubNowMs)
  const path = `/clusters/${encodeURIComponent(cluster)}/api/v1/nodes`
  const view = useWatched(path)
  const retry = useRetry(path)
  // Nodes of the API.
  const joined = joinedNodes([...view.items.values()] as NodeObject[], sinceMs)
  return (
    <section className="panel" aria-live="polite">
      <h2>
        {texts.joined}
        <span className="page-space" />
        <Freshness view={view} />
      </h2>
      {view.error === undefined ? undefined : <Failed error={view.error} onRetry={retry} />}
      {view.phase === 'loading' ? <Loading /> : undefined}
      {view.phase === 'live' && joined.length === 0 ? (
        <p className="muted">{texts.noneJoined}</p>
      ) : undefined}
      <ul className="plain">
        {joined.slice(0, viewLimits.joinedRows).map(({ name, atMs, isReady, address }) => (
          <li key={name} className="row">
            <WordMark tone={isReady ? 'ok' : 'busy'}>
              {isReady ? texts.ready : texts.notReady}
            </WordMark>
            <Link href={objectPage(cluster, { ...nodes, name })}>{name}</Link>
            <span className="muted mono">{address}</span>
            <span>
              {texts.joinedAgo} <Age atMs={atMs} />
            </span>
          </li>
        ))}
      </ul>
    </section>
  )
}
