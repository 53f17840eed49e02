import type { HubError } from '../data/hub/hub-error.ts'
import { useTexts } from '../words/language.ts'
import { partTexts } from './texts.ts'

/** Why something was not done, in the server's words, with the id under which the audit log has the request. */
export function FaultLine({ fault }: { readonly fault: HubError | undefined }) {
  const texts = useTexts(partTexts)
  if (fault === undefined) return undefined
  const { requestId } = fault.facts
  return (
    <p className="fault" role="alert">
      {fault.message}
      {requestId === undefined ? undefined : (
        <span className="muted mono"> {texts.requestId(requestId)}</span>
      )}
    </p>
  )
}
