import { useLayoutEffect, useRef } from 'react'
import { Link } from 'wouter'

export interface Tab {
  readonly key: string
  readonly title: string
  readonly href: string
}

/** Links between the parts of one page; each part has an address. A narrow page shows the present one. */
export function Tabs({
  tabs,
  current,
  label,
}: {
  tabs: readonly Tab[]
  current: string
  label: string
}) {
  const room = useRef<HTMLElement>(null)
  useLayoutEffect(() => {
    const here = room.current?.querySelector('[aria-current]')
    here?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [current])
  return (
    <nav className="tabs" aria-label={label} ref={room}>
      {tabs.map(({ key, title, href }) => (
        <Link key={key} href={href} aria-current={key === current ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
