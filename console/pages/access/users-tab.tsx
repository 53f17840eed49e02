import { useState } from 'react'
import { useQuery } from '@tanstack/react-query'
import { objectPath, type ObjectName } from '../../data/hub/api-paths.ts'
import { wordsOf } from '../../data/browser/form-values.ts'
import { hubNowMs } from '../../data/hub/hub-clock.ts'
import { asHubError } from '../../data/hub/hub-error.ts'
import { askHub, askJson } from '../../data/hub/hub-request.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { commandLine } from '../../data/objects/object-commands.ts'
import { Allowed } from '../../parts/allowed.tsx'
import { Empty, Failed, Loading } from '../../parts/answer-state.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { ConfirmButton } from '../../parts/confirm-button.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { DataTable, type Column } from '../../parts/data-table.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { LabelChips } from '../../parts/label-chips.tsx'
import { SecretText } from '../../parts/secret-text.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { partTexts } from '../../parts/texts.ts'
import { useLanguage, useTexts } from '../../words/language.ts'
import { clockText } from '../../words/time-texts.ts'
import { texts as both } from './texts.ts'

const usersPath = '/hub/v1/users'

/** A token of a user, without anything by which it could be guessed. */
interface UserToken {
  readonly id: string
  readonly name: string
  readonly groups: readonly string[]
  /** Null if it is valid until it is removed. */
  readonly expires: string | null
}

/** The Secrets that the tokens of users are. */
const tokens = { group: '', version: 'v1', resource: 'secrets', namespace: 'skerry-users' }

function tokenOf({ id }: UserToken): ObjectName {
  return { ...tokens, name: `user-token-${id}` }
}

export function UsersTab() {
  const texts = useTexts(both)
  const { data, error, refetch } = useQuery({
    queryKey: [usersPath],
    queryFn: ({ signal }) =>
      askJson<{ readonly users: readonly UserToken[] }>(usersPath, { signal }),
  })
  const reload = (): void => void refetch()
  if (error !== null) return <Failed error={asHubError(error)} onRetry={reload} />
  if (data === undefined) return <Loading />
  return (
    <>
      <Allowed action={{ verb: 'create', object: { ...tokens, name: '' } }} isExplained>
        <AddUser onAdded={reload} />
      </Allowed>
      {data.users.length === 0 ? (
        <Empty title={texts.noUsers} />
      ) : (
        <DataTable
          label={texts.tabs.users}
          rows={data.users}
          columns={columnsOf(texts, reload)}
          keyOf={({ id }) => id}
          initialSort="name"
        />
      )}
    </>
  )
}

type Texts = (typeof both)['en']

function columnsOf(texts: Texts, reload: () => void): Column<UserToken>[] {
  return [
    {
      key: 'name',
      title: texts.user,
      width: 'minmax(120px, 1fr)',
      sortBy: ({ name }) => name,
      cell: ({ name }) => name,
    },
    {
      key: 'groups',
      title: texts.groups,
      width: 'minmax(120px, 2fr)',
      cell: ({ groups }) => (
        <LabelChips labels={Object.fromEntries(groups.map((group) => [group, '']))} />
      ),
    },
    {
      key: 'id',
      title: texts.tokenId,
      width: '130px',
      isWide: true,
      cell: ({ id }) => <code>{id}</code>,
    },
    {
      key: 'expires',
      title: texts.expires,
      width: '170px',
      isWide: true,
      sortBy: ({ expires }) => expires ?? '9',
      cell: ({ expires }) => (expires === null ? texts.never : <Moment at={expires} />),
    },
    {
      key: 'remove',
      title: '',
      width: '110px',
      cell: (user) => (
        <Allowed action={{ verb: 'delete', object: tokenOf(user) }}>
          <RemoveToken user={user} onRemoved={reload} />
        </Allowed>
      ),
    },
  ]
}

function Moment({ at }: { readonly at: string }) {
  const language = useLanguage()
  return (
    <time dateTime={at} title={at}>
      {clockText(Date.parse(at), hubNowMs(), language)}
    </time>
  )
}

interface RemoveTokenProps {
  readonly user: UserToken
  readonly onRemoved: () => void
}

function RemoveToken({ user, onRemoved }: RemoveTokenProps) {
  const { id, name } = user
  const texts = useTexts(both)
  const words = useTexts(partTexts)
  const action = useAction()
  const path = objectPath(undefined, tokenOf(user))
  const command = commandLine('skerry', 'user', 'remove', name, '--token-id', id)
  return (
    <ConfirmButton
      label={texts.revoke}
      name={name}
      action={action}
      act={async () => void (await askHub(path, { method: 'DELETE' }))}
      onDone={onRemoved}
    >
      <p>{texts.revokeText}</p>
      <p>
        <CopyButton label={words.asCommand} text={command} />
      </p>
    </ConfirmButton>
  )
}

function AddUser({ onAdded }: { readonly onAdded: () => void }) {
  const texts = useTexts(both)
  const [form, setForm] = useState({ name: '', groups: '', ttl: '2592000' })
  const [token, setToken] = useState<string>()
  const { isBusy, fault, run } = useAction()
  const add = async (): Promise<void> => {
    const name = form.name.trim()
    const isDone = await run(async () => {
      const ttlSeconds = form.ttl === 'never' ? undefined : Number(form.ttl)
      const body = { name, groups: wordsOf(form.groups) ?? [], ttlSeconds }
      const made = await askJson<{ readonly token: string }>(usersPath, { method: 'POST', body })
      setToken(made.token)
    })
    if (isDone) onAdded()
  }
  return (
    <section className="panel">
      <h2>{texts.addUser}</h2>
      <form
        className="fields"
        onSubmit={(event) => {
          event.preventDefault()
          void add()
        }}
      >
        <TextField
          label={texts.user}
          value={form.name}
          placeholder="olga"
          onChange={(name) => setForm({ ...form, name })}
        />
        <TextField
          label={texts.groups}
          value={form.groups}
          placeholder="operators"
          onChange={(groups) => setForm({ ...form, groups })}
        />
        <div className="field">
          <ChoiceField
            label={texts.validFor}
            value={form.ttl}
            choices={Object.entries(texts.ttls)}
            onChange={(ttl) => setForm({ ...form, ttl })}
          />
        </div>
        <div className="field is-button">
          <button
            type="submit"
            className="button is-main"
            disabled={isBusy || form.name.trim() === ''}
          >
            {texts.addUser}
          </button>
        </div>
      </form>
      <FaultLine fault={fault} />
      {token === undefined ? undefined : (
        <>
          <p className="banner tone-warn">▲ {texts.tokenOnce}</p>
          <SecretText text={token} secret={token} />
          <p>
            <button type="button" className="button" onClick={() => setToken(undefined)}>
              {texts.tokenKept}
            </button>
          </p>
        </>
      )}
    </section>
  )
}
