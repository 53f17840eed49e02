const warnShare = 0.8
const badShare = 0.95

/** A share between 0 and 1, as a number and as a bar. */
export function ShareBar({ share }: { readonly share: number | undefined }) {
  if (share === undefined) return <span className="muted">–</span>
  const percent = Math.round(share * 100)
  const tone = share >= badShare ? 'bad' : share >= warnShare ? 'warn' : 'plain'
  return (
    <span className="share">
      <span className="share-room" aria-hidden="true">
        <span
          className={`share-bar is-${tone}`}
          style={{ width: `${Math.min(100, Math.max(0, percent))}%` }}
        />
      </span>
      <span className="share-text">{percent} %</span>
    </span>
  )
}
