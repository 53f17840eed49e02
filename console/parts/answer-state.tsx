/** The states of a page that has nothing to show yet, or nothing at all: each says what to do. */
import { viewLimits } from '../limits-table.ts'
import type { HubError } from '../data/hub/hub-error.ts'
import { useLater } from '../data/hub/use-now.ts'
import { useTexts } from '../words/language.ts'
import { CopyButton } from './copy-button.tsx'
import { partTexts } from './texts.ts'

export function Loading() {
  const texts = useTexts(partTexts)
  const isLate = useLater(viewLimits.skeletonMs)
  if (!isLate) return <div className="skeleton-room" aria-busy="true" />
  return (
    <div className="skeleton" aria-busy="true" role="status">
      <span className="only-read">{texts.loading}</span>
      {[92, 78, 85, 64, 81, 70].map((width) => (
        <span key={width} className="skeleton-line" style={{ width: `${width}%` }} />
      ))}
    </div>
  )
}

interface EmptyProps {
  readonly title: string
  /** Says how to fill the page. */
  readonly children?: React.ReactNode
}

export function Empty({ title, children }: EmptyProps) {
  return (
    <div className="empty">
      <p className="empty-title">{title}</p>
      {children}
    </div>
  )
}

interface FailedProps {
  readonly error: HubError
  readonly onRetry?: () => void
}

/** Forbidden, out of reach, missing and anything else are told apart, because different people can help. */
export function Failed({ error, onRetry }: FailedProps) {
  const texts = useTexts(partTexts)
  const { requestId, retryAfterSeconds } = error.facts
  const title = error.isForbidden
    ? texts.forbidden
    : error.isMissing
      ? texts.missingTitle
      : error.isAway
        ? texts.awayTitle
        : texts.failedTitle
  return (
    <div className={`empty ${error.isAway ? 'tone-away' : ''}`} role="alert">
      <p className="empty-title">{title}</p>
      <p className="empty-text">{error.message}</p>
      {retryAfterSeconds === undefined ? undefined : <p>{texts.retryIn(retryAfterSeconds)}</p>}
      {error.isForbidden ? <p>{texts.forbiddenHint}</p> : undefined}
      <p className="empty-actions">
        {onRetry === undefined ? undefined : (
          <button type="button" className="button" onClick={onRetry}>
            {texts.retry}
          </button>
        )}
        {error.isForbidden ? (
          <CopyButton text={error.message} label={texts.copyRequest} />
        ) : undefined}
      </p>
      {requestId === undefined ? undefined : (
        <p className="muted mono">{texts.requestId(requestId)}</p>
      )}
    </div>
  )
}
