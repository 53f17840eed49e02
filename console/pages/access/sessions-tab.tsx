import { useQuery } from '@tanstack/react-query'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askHub, askJson } from '../../data/hub/hub-request.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { timeLimits } from '../../limits-table.ts'
import { Age } from '../../parts/age.tsx'
import { Failed, Loading } from '../../parts/answer-state.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

const sessionsPath = '/hub/v1/sessions'

interface ShownSession {
  readonly id: string
  readonly user: string
  readonly began: string
  readonly used: string
  readonly expires: string
  readonly address: string
  readonly by?: 'token' | 'certificate' | 'issuer'
  readonly isThis: boolean
}

interface Answer {
  readonly sessions: readonly ShownSession[]
  /** Whether the viewer sees the sessions of others, too. */
  readonly seesAll: boolean
}

/** The browsers that are logged in: one's own, and those of all for users who may see them. */
export function SessionsTab() {
  const texts = useTexts(both)
  const { data, error, refetch } = useQuery({
    queryKey: [sessionsPath],
    queryFn: ({ signal }) => askJson<Answer>(sessionsPath, { signal }),
    refetchInterval: timeLimits.askAgainMs,
  })
  if (error !== null) return <Failed error={asHubError(error)} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading />
  return (
    <>
      <p className="muted">{data.seesAll ? texts.allSessions : texts.ownSessions}</p>
      <DataTable
        label={texts.tabs.sessions}
        rows={data.sessions}
        columns={columnsOf(texts, () => void refetch())}
        keyOf={({ id }) => id}
        initialSort="used"
      />
    </>
  )
}

type Texts = (typeof both)['en']

function columnsOf(texts: Texts, reload: () => void): Column<ShownSession>[] {
  return [
    {
      key: 'user',
      title: texts.user,
      width: 'minmax(120px, 1fr)',
      sortBy: ({ user }) => user,
      cell: ({ user, isThis }) => (
        <>
          {user}
          {isThis ? <span className="muted"> {texts.thisSession}</span> : undefined}
        </>
      ),
    },
    {
      key: 'by',
      title: texts.loggedInBy,
      width: '130px',
      isWide: true,
      sortBy: ({ by = '' }) => by,
      cell: ({ by }) => (by === undefined ? '–' : texts.credentials[by]),
    },
    {
      key: 'address',
      title: texts.address,
      width: '150px',
      sortBy: ({ address }) => address,
      cell: ({ address }) => <span className="mono">{address || '–'}</span>,
    },
    ...timeColumns(texts),
    {
      key: 'end',
      title: '',
      width: '110px',
      cell: (session) => <EndSession session={session} onEnded={reload} />,
    },
  ]
}

function timeColumns(texts: Texts): Column<ShownSession>[] {
  return [
    {
      key: 'began',
      title: texts.began,
      width: '110px',
      isWide: true,
      sortBy: ({ began }) => -Date.parse(began),
      cell: ({ began }) => <Age atMs={Date.parse(began)} />,
    },
    {
      key: 'used',
      title: texts.used,
      width: '110px',
      sortBy: ({ used }) => -Date.parse(used),
      cell: ({ used }) => <Age atMs={Date.parse(used)} />,
    },
  ]
}

interface EndSessionProps {
  readonly session: ShownSession
  readonly onEnded: () => void
}

function EndSession({ session: { id, user }, onEnded }: EndSessionProps) {
  const texts = useTexts(both)
  const action = useAction()
  return (
    <ConfirmButton
      label={texts.endSession}
      action={action}
      act={async () => void (await askHub(`${sessionsPath}/${id}`, { method: 'DELETE' }))}
      onDone={onEnded}
    >
      <p>{texts.endText(user)}</p>
    </ConfirmButton>
  )
}
