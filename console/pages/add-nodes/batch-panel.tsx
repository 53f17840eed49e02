import { useState } from 'react'
import { Link, useLocation } from 'wouter'
import { expandAddresses } from '../../data/edge/address-range.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import { isLoginComplete, loginData, withLogins } from '../../data/hub/login-secret.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { CheckField } from '../../parts/check-field.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { LoginFields } from '../../parts/login-fields.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import { batchFaults, batchOf, batchPatch, emptyBatch, type BatchForm } from './batch-form.ts'
import { BatchSource } from './batch-source.tsx'
import { texts as both } from './texts.ts'
import { edgePath, jsonPatch, useBatchCheck, type EdgePlace } from './use-batch-check.ts'
import { WayFields } from './way-fields.tsx'

/** Adds machines to an edge cluster; the hub checks them while somebody types. */
export function BatchPanel({ namespace, name }: EdgePlace) {
  const texts = useTexts(both)
  const [, navigate] = useLocation()
  const [form, setForm] = useState<BatchForm>(emptyBatch)
  const { isBusy, fault, run } = useAction()
  const { login } = form
  const set = (change: Partial<BatchForm>): void => setForm({ ...form, ...change })
  // Several batches may have different logins, so each has a Secret of its own.
  const [ownSecret] = useState(() => `${name}-ssh-${crypto.randomUUID().slice(0, 8)}`)
  const secret = login.kind === 'secret' ? login.secret : ownSecret
  const batch = batchOf(form, secret)
  const patch = batchPatch(batch, form)
  const check = useBatchCheck({ namespace, name }, patch, batch)
  const causes = (fault ?? check.error)?.facts.causes ?? []
  const faults = batchFaults(causes, batch, check.blocksBefore)
  const first = (key: string): string | undefined => faults.get(key)?.[0]
  const page = `/edge-clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`
  const add = async (): Promise<void> => {
    const data = loginData(login)
    const logins = data === undefined ? [] : [{ namespace, name: secret, edgeName: name, data }]
    const write = async (): Promise<void> => {
      const request = { method: 'PATCH', body: patch, contentType: jsonPatch } as const
      await askJson(edgePath({ namespace, name }), request)
    }
    if (await run(() => withLogins(logins, write))) navigate(page)
  }
  // Lines of a list may name a Secret each.
  const hasLogin = isLoginComplete(login) || (form.source === 'csv' && login.kind === 'secret')
  const isReady = check.isGood && hasLogin
  return (
    <form
      className="form"
      onSubmit={(event) => {
        event.preventDefault()
        void add()
      }}
    >
      <p className="muted">{texts.batchHint}</p>
      <BatchSource form={form} set={set} faults={faults} batch={batch} />
      <SharedFields form={form} set={set} secretHint={`${name}-ssh`} faultOf={first} />
      <WayFields
        form={form}
        set={set}
        fault={first('jump') ?? first('way') ?? first('viaCluster')}
      />
      {form.role === 'Node' ? undefined : (
        <CheckField
          label={texts.movesToEtcd}
          isChecked={form.movesToEtcd}
          onChange={(movesToEtcd) => set({ movesToEtcd })}
        />
      )}
      <CheckField
        label={texts.acceptsNewKeys}
        isChecked={form.acceptsNewKeys}
        onChange={(acceptsNewKeys) => set({ acceptsNewKeys })}
      />
      {faults.size > 0 ? undefined : <FaultLine fault={fault ?? check.error} />}
      <FaultTexts texts={faults.get('') ?? []} />
      <div className="form-end">
        <button type="submit" className="button is-main" disabled={isBusy || !isReady}>
          {texts.add}
        </button>
        <BatchState isRunning={check.isRunning} isGood={check.isGood} machines={countOf(batch)} />
        <span className="page-space" />
        <Link href={page}>{texts.toProgress}</Link>
      </div>
    </form>
  )
}

function countOf({ blocks }: ReturnType<typeof batchOf>): number {
  return blocks.reduce((total, { addresses }) => {
    const texts = Array.isArray(addresses) ? addresses.map(String) : []
    return total + texts.flatMap(expandAddresses).length
  }, 0)
}

function FaultTexts({ texts }: { readonly texts: readonly string[] }) {
  return texts.map((text) => (
    <p key={text} className="fault" role="alert">
      {text}
    </p>
  ))
}

const roles = ['Node', 'Master', 'Witness'] as const

interface SharedFieldsProps {
  readonly form: BatchForm
  readonly set: (change: Partial<BatchForm>) => void
  readonly secretHint: string
  readonly faultOf: (key: string) => string | undefined
}

/** Fields of all machines, unless a line of the list says otherwise. */
function SharedFields({ form, set, secretHint, faultOf }: SharedFieldsProps) {
  const texts = useTexts(both)
  return (
    <div className="fields">
      <LoginFields
        login={form.login}
        placeholder={secretHint}
        faults={{ login: faultOf('login') }}
        onChange={(change) => set({ login: { ...form.login, ...change } })}
      />
      <div className="field">
        <ChoiceField
          label={texts.role}
          value={form.role}
          choices={roles.map((role) => [role, texts.roles[role]] as const)}
          onChange={(role) => set({ role })}
        />
      </div>
      <TextField
        label={texts.user}
        value={form.user}
        placeholder="root"
        fault={faultOf('user')}
        onChange={(user) => set({ user })}
      />
      <TextField
        label={texts.port}
        value={form.port}
        placeholder="22"
        fault={faultOf('port')}
        onChange={(port) => set({ port })}
      />
      <TextField
        label={texts.labels}
        value={form.labels}
        placeholder={texts.labelsHint}
        fault={faultOf('labels')}
        onChange={(labels) => set({ labels })}
      />
      <TextField
        label={texts.atOnce}
        value={form.atOnce}
        placeholder="10"
        fault={faultOf('atOnce')}
        onChange={(atOnce) => set({ atOnce })}
      />
    </div>
  )
}

interface BatchStateProps {
  readonly isRunning: boolean
  readonly isGood: boolean
  readonly machines: number
}

function BatchState({ isRunning, isGood, machines }: BatchStateProps) {
  const texts = useTexts(both)
  if (machines === 0) return undefined
  return (
    <span className={isGood ? 'tone-ok freshness' : 'muted'} role="status">
      {texts.machines(machines)}
      {isRunning ? `. ${texts.checking}` : isGood ? ` ● ${texts.good}` : ''}
    </span>
  )
}
