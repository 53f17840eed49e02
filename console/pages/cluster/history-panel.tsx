/** The last hour of a cluster's tunnels: whether it was there, how quick it was, and what it carried. */
import { useQuery } from '@tanstack/react-query'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { timeLimits } from '../../limits-table.ts'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { useLanguage, useTexts } from '../../words/language.ts'
import { bytesText } from '../../words/number-texts.ts'
import { clockText } from '../../words/time-texts.ts'
import { texts as both } from './texts.ts'
import { historyFacts, linePath, maxOf, stateRuns, type History } from './tunnel-history.ts'

export function HistoryPanel({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const language = useLanguage()
  const path = `/hub/v1/cluster-states/${encodeURIComponent(cluster)}/history`
  const { data, error, refetch } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<History>(path, { signal }),
    refetchInterval: timeLimits.explainAgainMs,
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const facts = historyFacts(data)
  if (facts.connected === undefined) return <p className="panel muted">{texts.noHistory}</p>
  const fromMs = data.until - data.step * 1_000 * Math.max(0, data.state.length - 1)
  const perSecond = (bytes: number): string => `${bytesText(bytes)}/s`
  return (
    <section className="panel history">
      <h2>{texts.history}</h2>
      <p>{texts.connectedShare(Math.round(facts.connected * 1_000) / 10, facts.breaks)}</p>
      <svg
        className="chart-states"
        viewBox="0 0 100 1"
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {stateRuns(data.state).map(({ state, from, width }) => (
          <rect
            key={from}
            className={`chart-${state}`}
            x={from * 100}
            width={width * 100}
            height="1"
          />
        ))}
      </svg>
      <Lines
        title={texts.roundTrip}
        text={texts.rttFacts(facts.rttMedianMs ?? 0, facts.rttMaxMs ?? 0)}
        lines={[data.rtt]}
      />
      <Lines
        title={texts.traffic}
        text={texts.trafficFacts(perSecond(facts.upMax), perSecond(facts.downMax))}
        lines={[data.up, data.down]}
      />
      <p className="chart-times muted">
        <span>{clockText(fromMs, data.until, language)}</span>
        <span>{clockText(data.until, data.until, language)}</span>
      </p>
    </section>
  )
}

interface LinesProps {
  readonly title: string
  /** Says what the lines show. */
  readonly text: string
  readonly lines: readonly (readonly (number | null)[])[]
}

const size = { width: 360, height: 56 }

function Lines({ title, text, lines }: LinesProps) {
  const max = Math.max(...lines.map(maxOf))
  return (
    <figure className="chart">
      <figcaption>
        {title} <span className="muted">{text}</span>
      </figcaption>
      <svg
        viewBox={`0 -2 ${size.width} ${size.height + 4}`}
        preserveAspectRatio="none"
        aria-hidden="true"
      >
        {lines.map((values, index) => (
          // The lines have fixed places.
          <path key={index} className={`chart-line is-${index}`} d={linePath(values, max, size)} />
        ))}
      </svg>
    </figure>
  )
}
