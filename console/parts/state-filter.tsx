import {
  clusterStates,
  countByState,
  type ClusterState,
  type FleetRow,
} from '../data/fleet/fleet.ts'
import { useTexts } from '../words/language.ts'
import { StateShape } from './state-mark.tsx'
import { partTexts } from './texts.ts'

interface StateFilterProps {
  readonly rows: readonly FleetRow[]
  readonly chosen: readonly ClusterState[]
  readonly onChange: (states: readonly ClusterState[]) => void
}

/** How many clusters are in each state; a click shows these alone. */
export function StateFilter({ rows, chosen, onChange }: StateFilterProps) {
  const texts = useTexts(partTexts)
  const counts = countByState(rows)
  const shown = clusterStates.filter((state) => counts.has(state) || chosen.includes(state))
  return (
    <div className="counts">
      {shown.map((state) => {
        const isChosen = chosen.includes(state)
        const next = isChosen ? chosen.filter((each) => each !== state) : [...chosen, state]
        return (
          <button
            key={state}
            type="button"
            className="count"
            aria-pressed={isChosen}
            onClick={() => onChange(next)}
          >
            <StateShape state={state} />
            <span className="count-number">{counts.get(state) ?? 0}</span>
            <span className="count-word">{texts.states[state]}</span>
          </button>
        )
      })}
    </div>
  )
}

/** Reads states from an address; unknown words are left out. */
export function readStates(text: string | undefined): ClusterState[] {
  const words = new Set((text ?? '').split(','))
  return clusterStates.filter((state) => words.has(state))
}
