import { asHubError } from '../../data/hub/hub-error.ts'
import { timeLimits } from '../../limits-table.ts'
import { Age } from '../../parts/age.tsx'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { Facts, type Fact } from '../../parts/facts.tsx'
import { useLanguage, useTexts } from '../../words/language.ts'
import { bytesText } from '../../words/number-texts.ts'
import { useNow } from '../../data/hub/use-now.ts'
import { WordMark } from '../../parts/state-mark.tsx'
import { momentText } from '../../words/time-texts.ts'
import { HistoryPanel } from './history-panel.tsx'
import { texts as both, type ClusterTexts } from './texts.ts'
import { useTunnelState, type AgentFacts, type OpenTunnel } from './tunnel-state.ts'

export function Tunnel({ cluster }: { readonly cluster: string }) {
  const texts = useTexts(both)
  const { data, error, refetch } = useTunnelState(cluster)
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const { tunnel, agents, lastEnd } = data
  return (
    <div className="columns">
      {tunnel === 'none' ? <p className="panel muted">{texts.pushed}</p> : undefined}
      {tunnel === 'closed' ? <p className="panel muted">{texts.noTunnel}</p> : undefined}
      {agents.map((agent, index) => (
        <section key={agent.openedAt} className="panel">
          <h2>{texts.tunnel(index + 1)}</h2>
          <Facts facts={factsOf(agent, texts)} />
        </section>
      ))}
      {lastEnd === null ? undefined : (
        <section className="panel">
          <h2>{texts.lastEnd}</h2>
          <p>
            <Age atMs={Date.parse(lastEnd.at)} />: {lastEnd.reason}
          </p>
        </section>
      )}
      {tunnel === 'none' ? undefined : <HistoryPanel cluster={cluster} />}
    </div>
  )
}

function factsOf(tunnel: OpenTunnel, texts: ClusterTexts): Fact[] {
  return [
    { name: texts.opened, value: <Age atMs={Date.parse(tunnel.openedAt)} /> },
    { name: texts.lastHeard, value: <Age atMs={Date.parse(tunnel.lastHeard)} /> },
    { name: texts.roundTrip, value: tunnel.rttMs === null ? '–' : `${tunnel.rttMs} ms` },
    {
      name: texts.received,
      value: `${bytesText(tunnel.bytesIn)} · ${bytesText(tunnel.bytesInPerSecond)}/s`,
    },
    {
      name: texts.sent,
      value: `${bytesText(tunnel.bytesOut)} · ${bytesText(tunnel.bytesOutPerSecond)}/s`,
    },
    { name: texts.streams, value: tunnel.streams },
    ...(tunnel.agent === null ? [] : agentFacts(tunnel.agent, texts)),
  ]
}

function agentFacts(agent: AgentFacts, texts: ClusterTexts): Fact[] {
  const { host, address, version, certificateExpires: end } = agent
  const certificate =
    end === null ? '–' : <CertificateEnd endMs={Date.parse(end)} soon={texts.endsSoon} />
  return [
    { name: texts.agentVersion, value: version ?? '–' },
    { name: texts.agentHost, value: [host, address].filter(Boolean).join(' · ') },
    { name: texts.certificate, value: certificate },
  ]
}

interface CertificateEndProps {
  readonly endMs: number
  readonly soon: string
}

/** Agents renew their certificates long before the end: one that ends soon is a sign of trouble. */
function CertificateEnd({ endMs, soon }: CertificateEndProps) {
  const language = useLanguage()
  const nowMs = useNow(timeLimits.askAgainMs)
  return (
    <>
      <time dateTime={new Date(endMs).toISOString()}>{momentText(endMs, language)}</time>{' '}
      {endMs - nowMs < timeLimits.certificateSoonMs ? (
        <WordMark tone="warn">{soon}</WordMark>
      ) : undefined}
    </>
  )
}
