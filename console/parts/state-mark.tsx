/** A state is a shape, a word and a colour, so that each of them alone is enough. */
import { useTexts } from '../words/language.ts'
import type { ClusterState } from '../data/fleet/fleet.ts'
import { partTexts } from './texts.ts'

export const stateShapes: Readonly<Record<ClusterState, string>> = {
  ready: '●',
  working: '◐',
  degraded: '▲',
  failed: '✕',
  away: '◌',
  unknown: '?',
  suspended: '‖',
  pending: '◔',
}

export type Tone = 'ok' | 'warn' | 'bad' | 'away' | 'off' | 'busy'

const tones: Readonly<Record<ClusterState, Tone>> = {
  ready: 'ok',
  working: 'busy',
  degraded: 'warn',
  failed: 'bad',
  away: 'away',
  unknown: 'off',
  suspended: 'off',
  pending: 'off',
}

interface StateMarkProps {
  readonly state: ClusterState
  /** Said after the word, such as how long it has been so. */
  readonly children?: React.ReactNode
}

export function StateMark({ state, children }: StateMarkProps) {
  const texts = useTexts(partTexts)
  return (
    <span className={`mark tone-${tones[state]}`}>
      <span className="mark-shape" aria-hidden="true">
        {stateShapes[state]}
      </span>
      <span>{texts.states[state]}</span>
      {children === undefined ? undefined : <span className="mark-note">{children}</span>}
    </span>
  )
}

/** The shape alone, for a cell of the map, whose name says the rest. */
export function StateShape({ state }: { readonly state: ClusterState }) {
  return (
    <span className={`mark-shape tone-${tones[state]}`} aria-hidden="true">
      {stateShapes[state]}
    </span>
  )
}

/** A state of another thing than a cluster, in its own word. */
export function WordMark({ tone, children }: { readonly tone: Tone; readonly children: string }) {
  const shape = { ok: '●', busy: '◐', warn: '▲', bad: '✕', away: '◌', off: '‖' }[tone]
  return (
    <span className={`mark tone-${tone}`}>
      <span className="mark-shape" aria-hidden="true">
        {shape}
      </span>
      <span>{children}</span>
    </span>
  )
}
