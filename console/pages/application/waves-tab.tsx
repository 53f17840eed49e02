import { useMemo } from 'react'
import { Link } from 'wouter'
import type { ExplainedWave } from '../../data/fleet/explanation.ts'
import { viewLimits } from '../../limits-table.ts'
import { Empty, Loading } from '../../parts/answer-state.tsx'
import { StandingMark } from '../../parts/standing-mark.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { useTexts } from '../../words/language.ts'
import {
  applicationRows,
  applicationTotals,
  byStanding,
  type ApplicationRow,
  type Binding,
} from './application-rows.ts'
import { ExplanationFault } from './explanation-fault.tsx'
import { PolicyActions } from './policy-actions.tsx'
import { texts as both } from './texts.ts'
import { useExplanation } from './use-explanation.ts'

/** In which order a change reaches the clusters, and which wave it waits for. */
export function WavesTab({ binding }: { readonly binding: Binding }) {
  const texts = useTexts(both)
  const answer = useExplanation(binding.spec.resource)
  const rows = useMemo(
    () => new Map(applicationRows(binding, answer.data).map((row) => [row.cluster, row])),
    [binding, answer.data],
  )
  const waves = answer.data?.waves
  return (
    <>
      <ExplanationFault answer={answer} />
      {waves === undefined && answer.error === undefined ? <Loading /> : undefined}
      {waves?.length === 0 ? (
        <Empty title={texts.noWaves}>
          <p className="empty-text">{texts.noWavesHint}</p>
        </Empty>
      ) : undefined}
      <PolicyActions binding={binding} actions="waves" />
      {waves?.length === 0 ? undefined : <p className="muted">{texts.wavesHint}</p>}
      {waves?.map((wave, index) => (
        <Wave
          key={wave.name}
          wave={wave}
          number={index + 1}
          isCurrent={wave.isOpen && waves[index + 1]?.isOpen !== true && wave.well < wave.needed}
          rows={wave.clusters.flatMap((name) => rows.get(name) ?? [])}
        />
      ))}
    </>
  )
}

interface WaveProps {
  readonly wave: ExplainedWave
  readonly number: number
  /** The next wave waits for this one. */
  readonly isCurrent: boolean
  readonly rows: readonly ApplicationRow[]
}

function Wave({ wave, number, isCurrent, rows }: WaveProps) {
  const texts = useTexts(both)
  const { standings } = applicationTotals(rows)
  const shown = rows.toSorted(byStanding).slice(0, viewLimits.waveClusters)
  const state = wave.isOpen ? (isCurrent ? texts.waveCurrent : texts.waveOpen) : texts.waveClosed
  const tone = wave.isOpen ? (isCurrent ? 'busy' : 'ok') : 'off'
  return (
    <section className="panel" aria-label={texts.wave(number)}>
      <h2 className="wave-head">
        {texts.wave(number)} <code>{wave.name}</code>
        <WordMark tone={tone}>{state}</WordMark>
        <span className="muted">{texts.well(wave.well, wave.needed)}</span>
      </h2>
      <p className="totals">
        {standings.map(([standing, count]) => (
          <StandingMark key={standing} standing={standing} count={count} />
        ))}
      </p>
      <ul className="wave-clusters">
        {shown.map(({ cluster, standing, message }) => (
          <li key={cluster}>
            <StandingMark standing={standing} />
            <Link href={`/clusters/${encodeURIComponent(cluster)}`}>{cluster}</Link>
            <span className="muted">
              {standing === 'Away' || standing === 'Suspended' ? texts.notCounted : ''} {message}
            </span>
          </li>
        ))}
      </ul>
      {rows.length > shown.length ? (
        <p className="muted">{texts.more(rows.length - shown.length)}</p>
      ) : undefined}
    </section>
  )
}
