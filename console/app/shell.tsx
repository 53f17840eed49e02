/** The room around every page: navigation, the hub's name, the way out, and a banner while the hub is away. */
import { Component, Suspense, useState } from 'react'
import { Link, Route, Switch, useLocation } from 'wouter'
import { browserClock } from '../data/browser/browser-clock.ts'
import { useConsole, useStreamState } from '../data/streams/console-context.tsx'
import { hubSilence } from '../data/streams/hub-silence.ts'
import { hubAheadMs } from '../data/hub/hub-clock.ts'
import { asHubError, type HubError } from '../data/hub/hub-error.ts'
import { lastAnswerMs } from '../data/hub/hub-request.ts'
import { useNow } from '../data/hub/use-now.ts'
import { timeLimits } from '../limits-table.ts'
import { Empty, Failed, Loading } from '../parts/answer-state.tsx'
import { Icon } from '../parts/icon.tsx'
import { PageFrame } from '../parts/page-frame.tsx'
import { useLanguage, useTexts } from '../words/language.ts'
import { spanText } from '../words/time-texts.ts'
import { pageTable } from './page-table.tsx'
import { appTexts } from './texts.ts'
import { PaletteButton } from './palette.tsx'
import { ViewerMenu } from './viewer-menu.tsx'

interface ShellProps {
  readonly onLogOut: () => void
}

export function Shell({ onLogOut }: ShellProps) {
  const texts = useTexts(appTexts)
  const { session } = useConsole()
  const [isOpen, setOpen] = useState(false)
  const [location] = useLocation()
  return (
    <div className={`shell${isOpen ? ' is-open' : ''}`}>
      <a className="skip" href="#page">
        {texts.skip}
      </a>
      <header className="top">
        <button
          type="button"
          className="button is-icon top-menu"
          aria-label={texts.menu}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? 'close' : 'menu'} />
        </button>
        <Link href="/" className="brand">
          <span className="brand-mark" aria-hidden="true" />
          Skerry
        </Link>
        <span className="top-hub" title={session.hub.version}>
          {session.hub.name}
        </span>
        <span className="page-space" />
        <PaletteButton />
        <ViewerMenu onLogOut={onLogOut} />
      </header>
      <Navigation onGo={() => setOpen(false)} />
      <main id="page" className="main" tabIndex={-1}>
        <HubBanner />
        <Fence key={location}>
          <Suspense fallback={<Loading />}>
            <Switch>
              {pageTable.map(({ path, page }) => (
                <Route key={path} path={path} component={page} />
              ))}
              <Route>
                <NoPage />
              </Route>
            </Switch>
          </Suspense>
        </Fence>
      </main>
    </div>
  )
}

function Navigation({ onGo }: { readonly onGo: () => void }) {
  const texts = useTexts(appTexts)
  const [location] = useLocation()
  const sections = Object.entries(texts.sections)
  return (
    <nav className="nav" aria-label={texts.menu}>
      {sections.map(([section, title]) => {
        const entries = pageTable.filter(({ link }) => link?.section === section)
        if (entries.length === 0) return undefined
        return (
          <section key={section} aria-label={title}>
            <p className="nav-title">{title}</p>
            {entries.map(({ path, link }) => {
              const href = link?.href ?? path
              const isHere = href === '/' ? location === '/' : location.startsWith(href)
              return (
                <Link
                  key={path}
                  href={href}
                  className="nav-link"
                  aria-current={isHere ? 'page' : undefined}
                  onClick={onGo}
                >
                  {link === undefined ? undefined : <Icon name={link.icon} />}
                  {link?.title(texts)}
                  {link?.useCount === undefined ? undefined : <Badge useCount={link.useCount} />}
                </Link>
              )
            })}
          </section>
        )
      })}
    </nav>
  )
}

/** Says how many things wait on a page. */
function Badge({ useCount }: { readonly useCount: () => number }) {
  const texts = useTexts(appTexts)
  const count = useCount()
  if (count === 0) return undefined
  return (
    <span className="nav-badge" title={texts.waiting(count)}>
      <span aria-hidden="true">{count}</span>
      <span className="only-read"> {texts.waiting(count)}</span>
    </span>
  )
}

function HubBanner() {
  const texts = useTexts(appTexts)
  const language = useLanguage()
  const { stream } = useConsole()
  const state = useStreamState()
  useNow(1_000)
  const skewMs = Math.abs(hubAheadMs())
  const times = { nowMs: browserClock.nowMs(), lastAnswerMs: lastAnswerMs() }
  const silence = hubSilence(state, times)
  if (silence !== undefined) {
    const text = silence.is === 'away' ? texts.hubAway : texts.streamRefused
    return (
      <div className="banner tone-away" role="status">
        <span>{text(spanText(silence.forMs, language))}</span>
        <button type="button" className="button" onClick={() => stream.redial()}>
          {texts.dialNow}
        </button>
      </div>
    )
  }
  if (skewMs < timeLimits.skewMsMin) return undefined
  return <div className="banner">{texts.clockSkew(spanText(skewMs, language))}</div>
}

function NoPage() {
  const texts = useTexts(appTexts)
  return (
    <PageFrame title={texts.notFound}>
      <p>
        <Link href="/">{texts.toFleet}</Link>
      </p>
    </PageFrame>
  )
}

interface FenceState {
  readonly error?: HubError | undefined
  /** A part of the console that the hub no longer has: it was upgraded meanwhile. */
  readonly isOld?: boolean
}

/** A page that breaks leaves the shell as it is. React offers this only to classes. */
class Fence extends Component<{ readonly children: React.ReactNode }, FenceState> {
  override state: FenceState = {}

  static getDerivedStateFromError(thrown: unknown): FenceState {
    // A module that cannot be loaded rejects with a TypeError of the browser.
    const isOld = thrown instanceof TypeError && /dynamically imported module/.test(thrown.message)
    return { error: asHubError(thrown), isOld }
  }

  override render() {
    const { error, isOld } = this.state
    if (error === undefined) return this.props.children
    return isOld ? (
      <OutdatedConsole />
    ) : (
      <Failed error={error} onRetry={() => this.setState({ error: undefined })} />
    )
  }
}

function OutdatedConsole() {
  const texts = useTexts(appTexts)
  return (
    <Empty title={texts.newVersion}>
      <button type="button" className="button is-main" onClick={() => window.location.reload()}>
        {texts.reload}
      </button>
    </Empty>
  )
}
