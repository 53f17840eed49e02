import { Link } from 'wouter'

export interface Tab {
  readonly key: string
  readonly title: string
  readonly href: string
}

/** Links between the parts of one page; each part has an address. */
export function Tabs({
  tabs,
  current,
  label,
}: {
  tabs: readonly Tab[]
  current: string
  label: string
}) {
  return (
    <nav className="tabs" aria-label={label}>
      {tabs.map(({ key, title, href }) => (
        <Link key={key} href={href} aria-current={key === current ? 'page' : undefined}>
          {title}
        </Link>
      ))}
    </nav>
  )
}
