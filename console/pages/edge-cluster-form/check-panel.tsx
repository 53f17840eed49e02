import type { EdgeClusterObject, EdgeWish } from '../../data/edge/edge-cluster.ts'
import { machineResults, type MachineState } from '../../data/edge/machine-results.ts'
import { HostKeys } from '../../parts/host-keys.tsx'
import { WordMark } from '../../parts/state-mark.tsx'
import { machineTexts, machineTones } from '../../parts/machine-texts.ts'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

interface CheckPanelProps {
  readonly edge: EdgeClusterObject
  readonly ask: (wish: EdgeWish) => void
}

/** Shows the hub's findings on each machine while the form is still open. */
export function CheckPanel({ edge, ask }: CheckPanelProps) {
  const texts = useTexts(both)
  const words = useTexts(machineTexts)
  const stateText = (state: MachineState): string =>
    state === 'Done' ? texts.fit : words.states[state]
  const ofHub = (edge.status?.steps ?? []).filter(
    ({ machine, state }) => machine === undefined && state === 'Failed',
  )
  return (
    <section className="panel" aria-live="polite">
      <h2>{texts.checked}</h2>
      <p className="muted">{texts.checkHint}</p>
      <HostKeys edge={edge} ask={ask} />
      {ofHub.map(({ name, message = '' }) => (
        <p key={name} className="fault">
          {message}
        </p>
      ))}
      <ul className="plain">
        {machineResults(edge).map(({ address, state, message, step }) => (
          <li key={address} className="row">
            <WordMark tone={machineTones[state]}>{stateText(state)}</WordMark>
            <span className="mono">{address}</span>
            <span className="muted">{message}</span>
            <ul className="findings">
              {step?.findings?.map((finding) => (
                <li key={finding}>{finding}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
    </section>
  )
}
