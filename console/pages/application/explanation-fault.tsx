import { partTexts } from '../../parts/texts.ts'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'
import type { ExplanationAnswer } from './use-explanation.ts'

/** An explanation reads much of the hub; a user who may not still sees what the binding says. */
export function ExplanationFault({ answer }: { readonly answer: ExplanationAnswer }) {
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  if (answer.error === undefined) return undefined
  return (
    <p className="banner tone-warn" role="status">
      <span>
        ▲ {texts.unexplained} {answer.error.message}
      </span>
      <button type="button" className="button" onClick={answer.retry}>
        {words.retry}
      </button>
    </p>
  )
}
