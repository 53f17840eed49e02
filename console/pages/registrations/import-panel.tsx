import { useState } from 'react'
import { useLocation } from 'wouter'
import { listPath } from '../../data/hub/api-paths.ts'
import { edgeClusters } from '../../data/edge/edge-cluster.ts'
import { askJson } from '../../data/hub/hub-request.ts'
import type { Registration } from '../../data/edge/registration.ts'
import { useAction } from '../../data/hub/use-action.ts'
import { CheckField } from '../../parts/check-field.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { FaultLine } from '../../parts/fault-line.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import {
  emptyImport,
  importFaults,
  importOf,
  registrationOf,
  type ImportForm,
} from './import-form.ts'
import { MadeImport, type MadeRegistration } from './made-import.tsx'
import { texts as both } from './texts.ts'

const registrations = {
  group: 'hub.skerry.io',
  version: 'v1alpha1',
  resource: 'clusterregistrations',
}

interface ImportPanelProps {
  /** The agents that wait, among which the new one may be. */
  readonly registrations: readonly Registration[]
}

/** Makes a token for one cluster, and waits for its agent. */
export function ImportPanel({ registrations: waiting }: ImportPanelProps) {
  const texts = useTexts(both)
  const [, navigate] = useLocation()
  const [form, setForm] = useState<ImportForm>(emptyImport)
  const [made, setMade] = useState<MadeRegistration>()
  const { isBusy, fault, run } = useAction()
  const set = (change: Partial<ImportForm>): void => setForm({ ...form, ...change })
  const faults = importFaults(fault?.facts.causes ?? [])
  const make = async (): Promise<void> => {
    const name = form.name.trim()
    const isFollowed = form.how === 'followed'
    const isDone = await run(async () => {
      if (isFollowed) {
        const path = listPath(undefined, edgeClusters, form.namespace)
        await askJson(path, { method: 'POST', body: importOf(form) })
        return
      }
      const request = { method: 'POST', body: registrationOf(form) } as const
      setMade(await askJson<MadeRegistration>(listPath(undefined, registrations), request))
    })
    if (isDone && isFollowed) {
      navigate(`/edge-clusters/${encodeURIComponent(form.namespace)}/${encodeURIComponent(name)}`)
    }
  }
  return (
    <section className="panel">
      <h2>{texts.connect}</h2>
      <p className="muted">{texts.connectHint}</p>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void make()
        }}
      >
        <ImportFields form={form} set={set} faults={faults} />
        {faults.size > Number(faults.has('')) ? undefined : <FaultLine fault={fault} />}
        <p className="empty-actions">
          <button
            type="submit"
            className="button is-main"
            disabled={isBusy || form.name.trim() === ''}
          >
            {form.how === 'followed' ? texts.makeFollowed : texts.make}
          </button>
        </p>
      </form>
      {made === undefined ? undefined : <MadeImport made={made} waiting={waiting} />}
    </section>
  )
}

interface ImportFieldsProps {
  readonly form: ImportForm
  readonly set: (change: Partial<ImportForm>) => void
  readonly faults: ReadonlyMap<string, string>
}

type TextKey =
  | 'name'
  | 'namespace'
  | 'users'
  | 'groups'
  | 'services'
  | 'region'
  | 'zones'
  | 'labels'

function ImportFields({ form, set, faults }: ImportFieldsProps) {
  const texts = useTexts(both)
  const field = (key: TextKey, placeholder = '') => (
    <TextField
      label={texts.fields[key]}
      value={form[key]}
      placeholder={placeholder}
      fault={faults.get(key)}
      onChange={(value) => set({ [key]: value })}
    />
  )
  const isCommand = form.how === 'command'
  return (
    <>
      <div className="fields">
        {field('name', 'shop-7')}
        <div className="field">
          <ChoiceField
            label={texts.how}
            value={form.how}
            choices={[
              ['command', texts.hows.command],
              ['followed', texts.hows.followed],
            ]}
            onChange={(how) => set({ how })}
          />
        </div>
        {isCommand ? (
          <div className="field">
            <ChoiceField
              label={texts.expiry}
              value={form.ttlSeconds}
              choices={Object.entries(texts.expiries)}
              onChange={(ttlSeconds) => set({ ttlSeconds })}
            />
          </div>
        ) : (
          field('namespace')
        )}
        {field('services', 'shop/till:80')}
        {isCommand ? (
          <>
            {field('users')}
            {field('groups')}
            {field('region')}
            {field('zones')}
            {field('labels', texts.labelsHint)}
          </>
        ) : undefined}
      </div>
      <ImportChecks form={form} set={set} />
    </>
  )
}

function ImportChecks({ form, set }: Omit<ImportFieldsProps, 'faults'>) {
  const texts = useTexts(both)
  return (
    <div className="block-choices">
      <CheckField
        label={texts.appliesWorks}
        isChecked={form.appliesWorks}
        onChange={(appliesWorks) => set({ appliesWorks })}
      />
      {form.how === 'followed' ? undefined : (
        <>
          <CheckField
            label={texts.needsAcceptance}
            isChecked={form.needsAcceptance}
            onChange={(needsAcceptance) => set({ needsAcceptance })}
          />
          <CheckField
            label={texts.allowsMasters}
            isChecked={form.allowsMasters}
            onChange={(allowsMasters) => set({ allowsMasters })}
          />
          <CheckField
            label={texts.hasVirtualClusters}
            isChecked={form.hasVirtualClusters}
            onChange={(hasVirtualClusters) => set({ hasVirtualClusters })}
          />
        </>
      )}
    </div>
  )
}
