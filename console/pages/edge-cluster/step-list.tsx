import { stepMs, stepText, type EdgeStep } from '../../data/edge/edge-cluster.ts'
import { useNow } from '../../data/hub/use-now.ts'
import { WordMark, type Tone } from '../../parts/state-mark.tsx'
import { useLanguage, useTexts } from '../../words/language.ts'
import { spanText } from '../../words/time-texts.ts'
import { texts as both } from './texts.ts'

const tones: Readonly<Record<EdgeStep['state'], Tone>> = {
  Waiting: 'off',
  Running: 'busy',
  Done: 'ok',
  Skipped: 'off',
  Failed: 'bad',
  Cancelled: 'off',
}

interface StepListProps {
  readonly steps: readonly EdgeStep[]
  readonly chosen: string
  readonly onChoose: (step: string) => void
}

/** All steps in their order; the chosen one's output stands next to them. */
export function StepList({ steps, chosen, onChoose }: StepListProps) {
  const texts = useTexts(both)
  const language = useLanguage()
  const nowMs = useNow(1_000)
  return (
    <ol className="step-list" aria-label={texts.steps}>
      {steps.map((step) => {
        const key = stepText(step)
        const ms = stepMs(step, nowMs)
        const untilMs = step.nextTime === undefined ? 0 : Date.parse(step.nextTime) - nowMs
        return (
          <li key={key}>
            <button
              type="button"
              className="step"
              aria-current={key === chosen ? 'step' : undefined}
              onClick={() => onChoose(key)}
            >
              <WordMark tone={tones[step.state]}>{texts.states[step.state]}</WordMark>
              <span className="step-name">{step.name}</span>
              <span className="muted">{step.machine ?? texts.hub}</span>
              <span className="muted">
                {(step.attempt ?? 0) > 1 ? texts.attempt(step.attempt ?? 0) : ''}
                {step.state === 'Waiting' && untilMs > 0
                  ? ` ${texts.next(spanText(untilMs, language))}`
                  : ''}
              </span>
              <span className="step-time">{ms === undefined ? '' : spanText(ms, language)}</span>
            </button>
          </li>
        )
      })}
    </ol>
  )
}
