/** How this browser shows the pages, and which hub it is. */
import { useState } from 'react'
import { Link } from 'wouter'
import { useConsole } from '../../data/streams/console-context.tsx'
import {
  firstPage,
  firstPages,
  setFirstPage,
  type FirstPage,
} from '../../data/browser/first-page.ts'
import { isTerminalRead, setTerminalRead } from '../../data/browser/terminal-reading.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { hubNowMs } from '../../data/hub/hub-clock.ts'
import { useHubInfo } from '../../data/hub/hub-info.ts'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { CheckField } from '../../parts/check-field.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { Facts } from '../../parts/facts.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { densities, setDensity, useDensity } from '../../words/density.ts'
import { setLanguage, useLanguage, useTexts, type Language } from '../../words/language.ts'
import { setTheme, themes, useTheme } from '../../words/theme.ts'
import { clockText, spanText } from '../../words/time-texts.ts'
import { texts as both } from './texts.ts'

const languages: readonly (readonly [Language, string])[] = [
  ['en', 'English'],
  ['zh', '中文'],
]

export function SettingsPage() {
  const texts = useTexts(both)
  return (
    <PageFrame title={texts.title}>
      <Look />
      <OwnSession />
      <Hub />
    </PageFrame>
  )
}

function Look() {
  const texts = useTexts(both)
  const language = useLanguage()
  const theme = useTheme()
  const density = useDensity()
  const [first, setFirst] = useState<FirstPage>(firstPage)
  const [isRead, setRead] = useState(isTerminalRead)
  return (
    <section className="panel">
      <h2>{texts.look}</h2>
      <p className="muted">{texts.lookHint}</p>
      <div className="fields">
        <div className="field">
          <ChoiceField
            label={texts.language}
            value={language}
            choices={languages}
            onChange={setLanguage}
          />
        </div>
        <div className="field">
          <ChoiceField
            label={texts.theme}
            value={theme}
            choices={themes.map((each) => [each, texts.themes[each]] as const)}
            onChange={setTheme}
          />
        </div>
        <div className="field">
          <ChoiceField
            label={texts.density}
            value={density}
            choices={densities.map((each) => [each, texts.densities[each]] as const)}
            onChange={setDensity}
          />
        </div>
        <div className="field">
          <ChoiceField
            label={texts.firstPage}
            value={first}
            choices={firstPages.map((each) => [each, texts.pages[each]] as const)}
            onChange={(page) => {
              setFirstPage(page)
              setFirst(page)
            }}
          />
        </div>
      </div>
      <CheckField
        label={texts.terminalReading}
        isChecked={isRead}
        onChange={(next) => {
          setTerminalRead(next)
          setRead(next)
        }}
      />
    </section>
  )
}

function OwnSession() {
  const texts = useTexts(both)
  const language = useLanguage()
  const { session } = useConsole()
  return (
    <section className="panel">
      <h2>{texts.session}</h2>
      <Facts
        facts={[
          { name: texts.user, value: session.user },
          { name: texts.groups, value: session.groups.join(', ') },
          {
            name: texts.until,
            value: clockText(Date.parse(session.expiresAt), hubNowMs(), language),
          },
        ]}
      />
      <p>
        <Link href="/access/sessions">{texts.allSessions}</Link>
      </p>
    </section>
  )
}

function Hub() {
  const texts = useTexts(both)
  const { data, error, refetch } = useHubInfo()
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  const { version, server, replica, certificates } = data
  return (
    <section className="panel">
      <h2>{texts.hub}</h2>
      <Facts
        facts={[
          { name: texts.version, value: version },
          { name: texts.address, value: server },
          { name: texts.shownAddress, value: window.location.origin },
          ...(replica === null ? [] : [{ name: texts.replica, value: replica }]),
          { name: texts.serving, value: <End at={certificates.serving} /> },
          { name: texts.authority, value: <End at={certificates.authority} /> },
        ]}
      />
    </section>
  )
}

/** The end of a certificate, and how far it is. */
function End({ at }: { readonly at: string }) {
  const texts = useTexts(both)
  const language = useLanguage()
  return (
    <time dateTime={at}>
      {at.slice(0, 10)} ({texts.in(spanText(Date.parse(at) - hubNowMs(), language))})
    </time>
  )
}
