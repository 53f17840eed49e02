import { useMemo } from 'react'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { listPath, objectPage } from '../../data/hub/api-paths.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import {
  explanationPath,
  servicesOf,
  type SelectingService,
  type ServiceReach,
} from '../../data/places/placed-application.ts'
import { useWatched } from '../../data/streams/console-context.tsx'
import { timeLimits, viewLimits } from '../../limits-table.ts'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { LabelChips } from '../../parts/label-chips.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { useTexts } from '../../words/language.ts'
import { AnswerFault } from './answer-fault.tsx'
import { texts as both } from './texts.ts'
import { usePlacedExplanation, type Placed } from './use-placed-explanation.ts'

const services = { group: '', version: 'v1', resource: 'services' }

/** The pods to which the application's services lead each place. */
export function TrafficTab(placed: Placed) {
  const { cluster, app } = placed
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const { namespace = '' } = app.metadata
  const answer = usePlacedExplanation(placed)
  const view = useWatched(listPath(cluster, services, namespace))
  const names = useMemo(
    () =>
      answer.data === undefined
        ? []
        : // Services of the API.
          servicesOf(answer.data, [...view.items.values()] as SelectingService[]),
    [answer.data, view],
  )
  const chosen = names.find((name) => name === values.service) ?? names[0]
  if (chosen === undefined) {
    return (
      <>
        <AnswerFault answer={answer} />
        <FaultLine fault={view.error} />
        {answer.error !== undefined ? undefined : answer.data === undefined ||
          view.phase === 'loading' ? (
          <Loading />
        ) : (
          <Empty title={texts.noServices}>
            <p className="empty-text">{texts.noServicesHint}</p>
          </Empty>
        )}
      </>
    )
  }
  const object = { ...services, namespace, name: chosen }
  return (
    <>
      <div className="bar">
        <ChoiceField
          label={texts.service}
          value={chosen}
          choices={names.map((name) => [name, name] as const)}
          onChange={(service) => setValues({ service })}
        />
        <Link href={objectPage(cluster, object)}>{texts.openService}</Link>
      </div>
      <AnswerFault answer={answer} />
      <Reach cluster={cluster} namespace={namespace} name={chosen} />
    </>
  )
}

interface ReachProps {
  readonly cluster: string
  readonly namespace: string
  readonly name: string
}

function Reach({ cluster, namespace, name }: ReachProps) {
  const texts = useTexts(both)
  const path = explanationPath(cluster, { namespace, name })
  const { data, error, refetch } = useQuery({
    queryKey: [path],
    queryFn: ({ signal }) => askJson<ServiceReach>(path, { signal }),
    refetchInterval: timeLimits.askAgainMs,
  })
  if (data === undefined) {
    if (error === null) return <Loading />
    return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  }
  return (
    <>
      <FaultLine fault={error === null ? undefined : asHubError(error)} />
      {data.faults.map(({ annotation, value }) => (
        <p key={annotation} className="banner tone-warn">
          ▲ {texts.fault(annotation, value)}
        </p>
      ))}
      <p className="muted">
        {data.keys.length === 0 ? texts.open : texts.closedBy(data.keys.join(', '))}{' '}
        {texts.proxyHint}
      </p>
      <div className="columns">
        {data.places.slice(0, viewLimits.groupsMax).map((place) => (
          <ReachPlace key={place.nodes[0]} place={place} reach={data} />
        ))}
      </div>
      {data.places.length > viewLimits.groupsMax ? (
        <p className="muted">{texts.more(data.places.length - viewLimits.groupsMax)}</p>
      ) : undefined}
    </>
  )
}

interface ReachPlaceProps {
  readonly place: ServiceReach['places'][number]
  readonly reach: ServiceReach
}

function ReachPlace({ place, reach }: ReachPlaceProps) {
  const texts = useTexts(both)
  const { labels, nodes } = place
  const title = Object.entries(labels)
    .map(([key, value]) => `${key}=${value}`)
    .join(', ')
  const endpoints = place.endpoints.flatMap((index) => reach.endpoints[index] ?? [])
  return (
    <section className="panel" aria-label={title === '' ? texts.anyNode : title}>
      <h2 className="wave-head">
        {title === '' ? texts.anyNode : <LabelChips labels={labels} />}
        <WordMark tone={endpoints.length === 0 ? 'warn' : 'ok'}>
          {`${endpoints.length} / ${reach.endpoints.length}`}
        </WordMark>
      </h2>
      <p>
        <span className="muted">{texts.asks}: </span>
        <Names names={nodes} />
      </p>
      <p className="muted">{texts.reaches}</p>
      <ul className="plain">
        {endpoints.length === 0 ? <li className="muted">{texts.nobody}</li> : undefined}
        {endpoints.slice(0, viewLimits.waveClusters).map(({ address, pod, node, isReady }) => (
          <li key={address}>
            {pod ?? address} <span className="muted">{node}</span>{' '}
            {isReady ? undefined : <WordMark tone="warn">{texts.notReady}</WordMark>}
          </li>
        ))}
        {endpoints.length > viewLimits.waveClusters ? (
          <li className="muted">{texts.more(endpoints.length - viewLimits.waveClusters)}</li>
        ) : undefined}
      </ul>
    </section>
  )
}

/** The first names of many. */
function Names({ names }: { readonly names: readonly string[] }) {
  const texts = useTexts(both)
  const shown = names.slice(0, viewLimits.waveClusters)
  const left = names.length - shown.length
  return `${shown.join(', ')}${left > 0 ? ` ${texts.more(left)}` : ''}`
}
