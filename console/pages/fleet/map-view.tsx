/** The fleet at the places that a person has written down. It needs no tiles and nothing from elsewhere. */
import { Link } from 'wouter'
import { fleetOnMap, type PlacedClusters, type Places } from '../../data/fleet/fleet-places.ts'
import { countByState, type FleetRow } from '../../data/fleet/fleet.ts'
import { useNarrow } from '../../parts/use-narrow.ts'
import { stateShapes } from '../../parts/state-mark.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { degreesText, mapFrame, markRadius, type MapFrame } from './map-frame.ts'
import { texts as both } from './texts.ts'

interface MapViewProps {
  readonly rows: readonly FleetRow[]
  readonly places: Places
}

/** Texts keep their size on a phone, because the drawing is about as wide as its screen. */
const sizes = {
  wide: { width: 960, height: 460, padding: 64 },
  narrow: { width: 380, height: 420, padding: 48 },
}

export function MapView({ rows, places }: MapViewProps) {
  const texts = useTexts(both)
  const size = useNarrow() ? sizes.narrow : sizes.wide
  const { placed, withoutPlace } = fleetOnMap(rows, places)
  const frame = mapFrame(
    placed.map(({ at }) => at),
    size,
  )
  return (
    <section className="panel" aria-label={texts.map}>
      <svg className="map" viewBox={`0 0 ${size.width} ${size.height}`} role="group">
        <Net frame={frame} />
        {placed.map((each) => (
          <Mark key={each.key} frame={frame} placed={each} />
        ))}
      </svg>
      {withoutPlace.length === 0 ? undefined : (
        <p className="muted">
          {texts.withoutPlace(withoutPlace.length)}{' '}
          <Link href="/?view=grid" className="is-underlined">
            {texts.grid}
          </Link>
        </p>
      )}
    </section>
  )
}

function Net({ frame }: { readonly frame: MapFrame }) {
  return (
    <g className="map-net" aria-hidden="true">
      {frame.meridians.map((degrees) => (
        <g key={degrees}>
          <line x1={frame.x(degrees)} x2={frame.x(degrees)} y1={0} y2={frame.height} />
          <text x={frame.x(degrees) + 3} y={frame.height - 4}>
            {degreesText(degrees, ['E', 'W'])}
          </text>
        </g>
      ))}
      {frame.parallels.map((degrees) => (
        <g key={degrees}>
          <line x1={0} x2={frame.width} y1={frame.y(degrees)} y2={frame.y(degrees)} />
          <text x={3} y={frame.y(degrees) - 3}>
            {degreesText(degrees, ['N', 'S'])}
          </text>
        </g>
      ))}
    </g>
  )
}

interface MarkProps {
  readonly frame: MapFrame
  readonly placed: PlacedClusters
}

/** A place with all its clusters; its link leads to the cluster, or to all of them. */
function Mark({ frame, placed }: MarkProps) {
  const words = useTexts(partTexts)
  const { key, at, rows, state } = placed
  const [x, y] = [frame.x(at.longitude), frame.y(at.latitude)]
  const radius = markRadius(rows.length)
  const counts = [...countByState(rows)].map(([each, count]) => `${count} ${words.states[each]}`)
  const title = `${key}: ${counts.join(', ')}`
  const [first] = rows
  const name = key.slice(key.lastIndexOf('.') + 1)
  const href =
    rows.length === 1 && first !== undefined
      ? `/clusters/${encodeURIComponent(first.n)}`
      : `/clusters?q=${encodeURIComponent(name)}`
  return (
    <Link href={href} className={`map-mark is-${state}`}>
      <title>{title}</title>
      <circle cx={x} cy={y} r={radius} aria-hidden="true" />
      <text x={x} y={y + 4} textAnchor="middle" className="map-count">
        {rows.length === 1 ? stateShapes[state] : rows.length}
      </text>
      <text x={x} y={y + radius + 15} textAnchor="middle">
        {state === 'ready' ? name : `${stateShapes[state]} ${name}`}
      </text>
    </Link>
  )
}
