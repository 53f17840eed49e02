/** The logs of some containers, live, as one list. */
import { useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { LogFollowers, withError } from '../../data/pods/log-followers.ts'
import type { LogSource } from '../../data/pods/log-path.ts'
import type { HubError } from '../../data/hub/hub-error.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import { LogTail, type LogLine } from '../../data/pods/log-tail.ts'
import { saveFile } from '../../data/browser/save-file.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { sgrSpans } from '../../data/pods/sgr-spans.ts'
import { viewLimits } from '../../limits-table.ts'
import { Empty, Failed } from '../../parts/answer-state.tsx'
import { Icon } from '../../parts/icon.tsx'
import { rowWindow } from '../../parts/row-window.ts'
import { SearchField } from '../../parts/search-field.tsx'
import { useTexts } from '../../words/language.ts'
import { lineTimeText } from '../../words/time-texts.ts'
import { texts as both } from './texts.ts'

const linePx = 18

interface LogViewProps {
  readonly sources: readonly LogSource[]
}

export function LogView({ sources }: LogViewProps) {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const isPrevious = values.run === 'previous'
  const text = values.q ?? ''
  const { tail, version, errors } = useLogs(sources, isPrevious)
  const filter = useDeferredValue(text.toLowerCase())
  const { shown, isFollowing, pause, follow } = useShown(tail, version)
  const lines = useMemo(() => matchingLines(shown.lines, filter), [shown, filter])
  const further = isFollowing ? 0 : tail.total - shown.total
  const [, firstError] = [...errors][0] ?? []
  return (
    <>
      <div className="bar">
        <button
          type="button"
          className="button"
          aria-pressed={isFollowing}
          onClick={isFollowing ? pause : follow}
        >
          <Icon name={isFollowing ? 'pause' : 'play'} />
          {isFollowing ? texts.pause : texts.follow}
        </button>
        <label className="check">
          <input
            type="checkbox"
            checked={isPrevious}
            onChange={(event) => setValues({ run: event.target.checked ? 'previous' : '' })}
          />
          {texts.previous}
        </label>
        <span className="page-space" />
        <SearchField value={text} label={texts.filterLines} onChange={(q) => setValues({ q })} />
        <button type="button" className="button" onClick={() => saveLines(lines)}>
          <Icon name="download" />
          {texts.download}
        </button>
      </div>
      <p className="log-counts muted">
        <span>{texts.lines(lines.length, shown.dropped)}</span>
        {further === 0 ? undefined : <span>{texts.further(further)}</span>}
      </p>
      {firstError === undefined || lines.length > 0 ? undefined : <Failed error={firstError} />}
      {lines.length === 0 && firstError === undefined ? <Empty title={texts.noLines} /> : undefined}
      {lines.length === 0 ? undefined : (
        <Lines
          lines={lines}
          isFollowing={isFollowing}
          hasSources={sources.length > 1}
          onLeaveEnd={pause}
        />
      )}
    </>
  )
}

/** The lines of one moment: the tail itself goes on. */
interface ShownLines {
  readonly tail: LogTail
  readonly lines: readonly LogLine[]
  readonly dropped: number
  readonly total: number
}

/** A reader who pauses keeps exactly the lines that were drawn, so that nothing moves while others come. */
function useShown(tail: LogTail, version: number) {
  const [kept, setKept] = useState<ShownLines>()
  // Another run of the containers is followed from its beginning.
  const held = kept?.tail === tail ? kept : undefined
  const shown = useMemo(
    (): ShownLines =>
      held ?? { tail, lines: [...tail.lines], dropped: tail.dropped, total: tail.total },
    // The tail is one object; its version says that it has changed.
    [tail, held ?? version],
  )
  return {
    shown,
    isFollowing: held === undefined,
    pause: () => setKept(shown),
    follow: () => setKept(undefined),
  }
}

function matchingLines(lines: readonly LogLine[], filter: string): readonly LogLine[] {
  if (filter === '') return lines
  return lines.filter((line) => line.isGap || line.text.toLowerCase().includes(filter))
}

/** Follows the sources into one list, which goes on when pods come and go. */
function useLogs(sources: readonly LogSource[], isPrevious: boolean) {
  const texts = useTexts(both)
  const [version, setVersion] = useState(0)
  const [errors, setErrors] = useState<ReadonlyMap<string, HubError>>(new Map())
  const tail = useMemo(() => new LogTail(), [isPrevious])
  const followers = useMemo(() => {
    let isDue = false
    const onChange = (): void => {
      if (isDue) return
      isDue = true
      browserClock.onFrame(() => {
        isDue = false
        setVersion((before) => before + 1)
      })
    }
    const onError = (source: string, error: HubError | undefined): void =>
      setErrors((before) => withError(before, source, error))
    const ask = (path: string, signal: AbortSignal): Promise<Response> =>
      askHub(path, { signal, isStream: true })
    const wish = { isFollowing: true, isPrevious, tailLines: viewLimits.logTailLines }
    const deps = { clock: browserClock, ask, onChange, onError, gapText: texts.gap }
    return new LogFollowers(tail, wish, deps)
  }, [tail, isPrevious, texts])
  useEffect(() => () => followers.stop(), [followers])
  const key = sources.map(({ name }) => name).join(' ')
  useEffect(() => followers.follow(sources.slice(0, viewLimits.logPodsMax)), [followers, key])
  return { tail, version, errors }
}

interface LinesProps {
  readonly lines: readonly LogLine[]
  readonly isFollowing: boolean
  readonly hasSources: boolean
  readonly onLeaveEnd: () => void
}

function Lines({ lines, isFollowing, hasSources, onLeaveEnd }: LinesProps) {
  const room = useRef<HTMLDivElement>(null)
  const [topPx, setTopPx] = useState(0)
  const heightPx = useHeightPx(room)
  const endPx = Math.max(0, lines.length * linePx - heightPx)
  // Before anything is painted: a position that is a frame late would draw other lines than it shows.
  useLayoutEffect(() => {
    const element = room.current
    if (element === null) return
    if (isFollowing) element.scrollTo({ top: element.scrollHeight })
    else setTopPx(element.scrollTop)
  }, [lines, isFollowing, heightPx])
  const lastTopPx = useRef(0)
  const onScroll = (): void => {
    const element = room.current
    if (element === null) return
    const isUp = element.scrollTop < lastTopPx.current
    lastTopPx.current = element.scrollTop
    if (!isFollowing) setTopPx(element.scrollTop)
    const leftPx = element.scrollHeight - element.scrollTop - element.clientHeight
    if (isUp && leftPx > linePx / 2) onLeaveEnd()
  }
  const { first, end } = rowWindow({
    rows: lines.length,
    rowPx: linePx,
    topPx: isFollowing ? endPx : topPx,
    heightPx,
    overscan: viewLimits.overscanRows * 4,
  })
  return (
    <div className="log" ref={room} onScroll={onScroll} tabIndex={0} role="log" aria-live="off">
      <div className="table-space" style={{ height: lines.length * linePx }}>
        <div className="log-lines" style={{ top: first * linePx }}>
          {lines.slice(first, end).map((line) => (
            <Line key={line.id} line={line} hasSource={hasSources} />
          ))}
        </div>
      </div>
    </div>
  )
}

function useHeightPx(room: React.RefObject<HTMLElement | null>): number {
  const [heightPx, setHeightPx] = useState(600)
  useLayoutEffect(() => {
    const element = room.current
    if (element === null) return
    const observer = new ResizeObserver(() => setHeightPx(element.clientHeight))
    observer.observe(element)
    return () => observer.disconnect()
  }, [room])
  return heightPx
}

function Line({ line, hasSource }: { readonly line: LogLine; readonly hasSource: boolean }) {
  if (line.isGap) {
    return (
      <div className="log-line is-gap">
        {hasSource ? `${line.source}: ` : ''}
        {line.text}
      </div>
    )
  }
  return (
    <div className="log-line">
      <span className="log-time" title={line.time}>
        {lineTimeText(line.time)}
      </span>
      {hasSource ? <span className="log-source">{line.source}</span> : undefined}
      {sgrSpans(line.text).map(({ text, style }, index) => (
        <span key={index} className={style}>
          {text}
        </span>
      ))}
    </div>
  )
}

function saveLines(lines: readonly LogLine[]): void {
  const text = lines.map(({ time, source, text: line }) => `${time} ${source} ${line}\n`).join('')
  saveFile('log.txt', 'text/plain', text)
}
