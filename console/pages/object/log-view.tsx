/** The logs of some containers, live, as one list. */
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react'
import { browserClock } from '../../data/browser/browser-clock.ts'
import { followLog } from '../../data/pods/follow-log.ts'
import type { LogSource } from '../../data/pods/log-path.ts'
import type { HubError } from '../../data/hub/hub-error.ts'
import { askHub } from '../../data/hub/hub-request.ts'
import { LogTail, type LogLine } from '../../data/pods/log-tail.ts'
import { saveFile } from '../../data/browser/save-file.ts'
import { sgrSpans } from '../../data/pods/sgr-spans.ts'
import { viewLimits } from '../../limits-table.ts'
import { Empty, Failed } from '../../parts/answer-state.tsx'
import { Icon } from '../../parts/icon.tsx'
import { rowWindow } from '../../parts/row-window.ts'
import { SearchField } from '../../parts/search-field.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const linePx = 18

interface LogViewProps {
  readonly sources: readonly LogSource[]
}

export function LogView({ sources }: LogViewProps) {
  const texts = useTexts(both)
  const [isFollowing, setFollowing] = useState(true)
  const [isPrevious, setPrevious] = useState(false)
  const [text, setText] = useState('')
  const { tail, version, errors } = useLogs(sources, isPrevious)
  const filter = useDeferredValue(text.toLowerCase())
  const held = useHeld(tail, isFollowing)
  const lines = useMemo(
    () => matchingLines(held?.lines ?? tail.lines, filter),
    // The tail is one object; its version says that it has changed.
    [tail, held === undefined ? version : held, filter],
  )
  const further = held === undefined ? 0 : tail.total - held.total
  const [, firstError] = [...errors][0] ?? []
  return (
    <>
      <div className="bar">
        <button
          type="button"
          className="button"
          aria-pressed={isFollowing}
          onClick={() => setFollowing(!isFollowing)}
        >
          <Icon name={isFollowing ? 'pause' : 'play'} />
          {isFollowing ? texts.pause : texts.follow}
        </button>
        <label className="check">
          <input
            type="checkbox"
            checked={isPrevious}
            onChange={(event) => setPrevious(event.target.checked)}
          />
          {texts.previous}
        </label>
        <span className="muted">{texts.lines(lines.length, held?.dropped ?? tail.dropped)}</span>
        {further === 0 ? undefined : <span className="muted">{texts.further(further)}</span>}
        <span className="page-space" />
        <SearchField value={text} label={texts.filterLines} onChange={setText} />
        <button type="button" className="button" onClick={() => saveLines(lines)}>
          <Icon name="download" />
          {texts.download}
        </button>
      </div>
      {firstError === undefined || lines.length > 0 ? undefined : <Failed error={firstError} />}
      {lines.length === 0 && firstError === undefined ? <Empty title={texts.noLines} /> : undefined}
      {lines.length === 0 ? undefined : (
        <Lines
          lines={lines}
          isFollowing={isFollowing}
          hasSources={sources.length > 1}
          onLeaveEnd={() => setFollowing(false)}
        />
      )}
    </>
  )
}

/** Keeps the lines that were there when the reader paused, so that nothing moves while others come. */
function useHeld(tail: LogTail, isFollowing: boolean) {
  return useMemo(
    () =>
      isFollowing
        ? undefined
        : { lines: [...tail.lines], dropped: tail.dropped, total: tail.total },
    [tail, isFollowing],
  )
}

function matchingLines(lines: readonly LogLine[], filter: string): readonly LogLine[] {
  if (filter === '') return [...lines]
  return lines.filter((line) => line.isGap || line.text.toLowerCase().includes(filter))
}

function useLogs(sources: readonly LogSource[], isPrevious: boolean) {
  const texts = useTexts(both)
  const [version, setVersion] = useState(0)
  const [errors, setErrors] = useState<ReadonlyMap<string, HubError>>(new Map())
  const key = sources.map(({ name }) => name).join(' ')
  // A choice of other sources begins a list of its own.
  const tail = useMemo(() => new LogTail(), [key, isPrevious])
  useEffect(() => {
    const stop = new AbortController()
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
      setErrors((before) => {
        const next = new Map(before)
        if (error === undefined) next.delete(source)
        else next.set(source, error)
        return next
      })
    const ask = (path: string, signal: AbortSignal): Promise<Response> =>
      askHub(path, { signal, isStream: true })
    const deps = { clock: browserClock, ask, onChange, onError, gapText: texts.gap }
    const wish = { isFollowing: true, isPrevious, tailLines: viewLimits.logTailLines }
    for (const source of sources.slice(0, viewLimits.logPodsMax)) {
      void followLog(tail, { source, wish }, deps, stop.signal)
    }
    return () => stop.abort()
  }, [key, tail, isPrevious, texts])
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
  const heightPx = room.current?.clientHeight ?? 600
  useEffect(() => {
    if (isFollowing) room.current?.scrollTo({ top: room.current.scrollHeight })
  }, [lines, isFollowing])
  const onScroll = (): void => {
    const element = room.current
    if (element === null) return
    const isUp = element.scrollTop < topPx
    setTopPx(element.scrollTop)
    const leftPx = element.scrollHeight - element.scrollTop - element.clientHeight
    if (isUp && leftPx > 2 * linePx) onLeaveEnd()
  }
  const { first, end } = rowWindow({
    rows: lines.length,
    rowPx: linePx,
    topPx,
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
      <span className="log-time">{line.time.slice(11, 23)}</span>
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
