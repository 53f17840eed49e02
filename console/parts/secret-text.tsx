import { useState } from 'react'
import { useTexts } from '../words/language.ts'
import { CopyButton } from './copy-button.tsx'
import { partTexts } from './texts.ts'

const mask = '••••••••'

interface SecretTextProps {
  readonly text: string
  /** The part of the text that nobody should see over a shoulder. */
  readonly secret: string
  /** Shown over several lines, as a manifest is. */
  readonly isBlock?: boolean
}

/** A text to copy. Its secret is masked until somebody wants to see it, and is in every copy. */
export function SecretText({ text, secret, isBlock = false }: SecretTextProps) {
  const texts = useTexts(partTexts)
  const [isShown, setShown] = useState(false)
  const shown = isShown || secret === '' ? text : text.replaceAll(secret, mask)
  const actions = (
    <>
      <button type="button" className="button is-quiet" onClick={() => setShown(!isShown)}>
        {isShown ? texts.hide : texts.show}
      </button>
      <CopyButton text={text} />
    </>
  )
  if (!isBlock) {
    return (
      <p className="command">
        <code>{shown}</code>
        {actions}
      </p>
    )
  }
  return (
    <div className="yaml is-short">
      <div className="yaml-actions">{actions}</div>
      <pre tabIndex={0}>{shown}</pre>
    </div>
  )
}
