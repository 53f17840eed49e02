/** The frame of every page: where it is, what it is called, how fresh it is, and what can be done. */
import { useEffect } from 'react'
import type { ListView } from '../data/streams/watched-list.ts'
import { Freshness } from './freshness.tsx'

interface PageFrameProps {
  readonly title: string
  /** Links to the pages above this one. */
  readonly above?: React.ReactNode
  /** Stands behind the title, such as a state. */
  readonly mark?: React.ReactNode
  /** The list that the page shows; its freshness stands in the head. */
  readonly view?: ListView
  readonly actions?: React.ReactNode
  readonly children: React.ReactNode
}

export function PageFrame({ title, above, mark, view, actions, children }: PageFrameProps) {
  useEffect(() => {
    document.title = `${title} · Skerry`
  }, [title])
  return (
    <div className="page">
      <header className="page-head">
        {above === undefined ? undefined : <nav className="page-above">{above}</nav>}
        <h1>{title}</h1>
        {mark}
        <span className="page-space" />
        {view === undefined ? undefined : <Freshness view={view} />}
        {actions}
      </header>
      {children}
    </div>
  )
}
