/** Users, rules, sessions, and the files with which people come in by kubectl. */
import { usePathWords } from '../../data/browser/use-path-words.ts'
import { KindBrowser } from '../../parts/kind-browser.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { Tabs } from '../../parts/tabs.tsx'
import { useTexts } from '../../words/language.ts'
import { KubeconfigTab } from './kubeconfig-tab.tsx'
import { SessionsTab } from './sessions-tab.tsx'
import { texts as both } from './texts.ts'
import { UsersTab } from './users-tab.tsx'
import { WhoCanTab } from './who-can-tab.tsx'

const tabKeys = ['rules', 'users', 'who-can', 'kubeconfig', 'sessions'] as const

type TabKey = (typeof tabKeys)[number]

const bodies: Readonly<Record<TabKey, () => React.ReactNode>> = {
  rules: RulesTab,
  users: UsersTab,
  'who-can': WhoCanTab,
  kubeconfig: KubeconfigTab,
  sessions: SessionsTab,
}

export function AccessPage() {
  const texts = useTexts(both)
  const params = usePathWords()
  const tab = tabKeys.find((key) => key === params.tab) ?? 'rules'
  const Body = bodies[tab]
  return (
    <PageFrame title={texts.title}>
      <Tabs
        label={texts.title}
        current={tab}
        tabs={tabKeys.map((key) => ({
          key,
          title: texts.tabs[key],
          href: key === 'rules' ? '/access' : `/access/${key}`,
        }))}
      />
      <Body />
    </PageFrame>
  )
}

const groups = ['hub.skerry.io', 'rbac.authorization.k8s.io']

function RulesTab() {
  const texts = useTexts(both)
  return (
    <>
      <p className="muted">{texts.hint}</p>
      <KindBrowser cluster={undefined} groups={groups} first="clusteraccesses.hub.skerry.io" />
    </>
  )
}
