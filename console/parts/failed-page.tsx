import type { HubError } from '../data/hub/hub-error.ts'
import { Failed } from './answer-state.tsx'
import { PageFrame } from './page-frame.tsx'

interface FailedPageProps {
  readonly title: string
  /** Links to the pages above this one. */
  readonly above?: React.ReactNode
  readonly error: HubError
  readonly onRetry: () => void
}

/** A page whose contents the server refuses or cannot read: it is still named, and leads to the pages above it. */
export function FailedPage({ title, above, error, onRetry }: FailedPageProps) {
  return (
    <PageFrame title={title} above={above}>
      <Failed error={error} onRetry={onRetry} />
    </PageFrame>
  )
}
