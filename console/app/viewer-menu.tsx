import { useConsole } from '../data/streams/console-context.tsx'
import { hubNowMs } from '../data/hub/hub-clock.ts'
import { Icon } from '../parts/icon.tsx'
import { setLanguage, useLanguage, useTexts, type Language } from '../words/language.ts'
import { setTheme, themes, useTheme } from '../words/theme.ts'
import { clockText } from '../words/time-texts.ts'
import { appTexts } from './texts.ts'

const languages: Readonly<Record<Language, string>> = { en: 'English', zh: '中文' }

/** Names the logged-in user and the end of the session, and sets how this browser shows the pages. */
export function ViewerMenu({ onLogOut }: { readonly onLogOut: () => void }) {
  const texts = useTexts(appTexts)
  const { session } = useConsole()
  const language = useLanguage()
  const theme = useTheme()
  const until = clockText(Date.parse(session.expiresAt), hubNowMs(), language)
  return (
    <>
      <button type="button" className="button is-quiet viewer" popoverTarget="viewer-menu">
        <Icon name="user" />
        <span className="viewer-name">{session.user}</span>
      </button>
      <div id="viewer-menu" popover="auto" className="menu">
        <p className="menu-user">{session.user}</p>
        <p className="muted">{session.groups.join(', ')}</p>
        <p className="muted">{texts.validUntil(until)}</p>
        <Choices
          label={texts.language}
          choices={Object.entries(languages)}
          chosen={language}
          onChoose={(next) => setLanguage(next === 'zh' ? 'zh' : 'en')}
        />
        <Choices
          label={texts.theme}
          choices={themes.map((each) => [each, texts.themes[each]])}
          chosen={theme}
          onChoose={(next) => setTheme(themes.find((each) => each === next) ?? 'system')}
        />
        <button type="button" className="button" onClick={onLogOut}>
          <Icon name="leave" />
          {texts.logOut}
        </button>
      </div>
    </>
  )
}

interface ChoicesProps {
  readonly label: string
  readonly choices: readonly (readonly [key: string, title: string])[]
  readonly chosen: string
  readonly onChoose: (key: string) => void
}

function Choices({ label, choices, chosen, onChoose }: ChoicesProps) {
  return (
    <fieldset className="choices">
      <legend>{label}</legend>
      {choices.map(([key, title]) => (
        <button
          key={key}
          type="button"
          className="choice"
          aria-pressed={key === chosen}
          onClick={() => onChoose(key)}
        >
          {title}
        </button>
      ))}
    </fieldset>
  )
}
