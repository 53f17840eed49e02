import { FaultLine } from '../../parts/fault-line.tsx'
import type { PlacedAnswer } from './use-placed-explanation.ts'

/** Shows why the hub could not explain an application or a part of it, and the fault that keeps the application from being carried out. */
export function AnswerFault({ answer: { data, error } }: { readonly answer: PlacedAnswer }) {
  const { problem, unread = [] } = data ?? {}
  return (
    <>
      {problem === undefined ? undefined : (
        <p className="banner tone-bad" role="alert">
          ✕ {problem.reason}: {problem.message}
        </p>
      )}
      <FaultLine fault={error} />
      {unread.map((message) => (
        <p key={message} className="fault" role="alert">
          {message}
        </p>
      ))}
    </>
  )
}
