/** The form of a new edge cluster. The hub checks it at each pause, and says where something is wrong. */
import { useEffect, useState } from 'react'
import { Link, useLocation } from 'wouter'
import { listPath } from '../../data/api-paths.ts'
import { browserClock } from '../../data/browser-clock.ts'
import { edgeClusters, type EdgeClusterObject } from '../../data/edge-cluster.ts'
import { asHubError, type HubError } from '../../data/hub-error.ts'
import { askJson } from '../../data/hub-request.ts'
import { writeYaml } from '../../data/yaml-writer.ts'
import { timeLimits } from '../../limits-table.ts'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import {
  edgeClusterOf,
  emptyForm,
  emptyMachine,
  faultsByField,
  type ClusterForm,
  type MachineForm,
} from './cluster-form.ts'
import { MachineBlock } from './machine-block.tsx'
import { texts as both } from './texts.ts'

export function EdgeClusterFormPage() {
  const texts = useTexts(both)
  const [, navigate] = useLocation()
  const [form, setForm] = useState<ClusterForm>(emptyForm)
  const [error, setError] = useState<HubError>()
  const check = useCheck(form)
  const set = (change: Partial<ClusterForm>): void => setForm({ ...form, ...change })
  const fault = error ?? check.error
  const faults = faultsByField(fault?.facts.causes ?? [])
  const create = async (): Promise<void> => {
    setError(undefined)
    try {
      await askJson(pathOf(form), { method: 'POST', body: edgeClusterOf(form) })
      const { namespace, name } = form
      navigate(`/edge-clusters/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}`)
    } catch (thrown) {
      setError(asHubError(thrown))
    }
  }
  return (
    <PageFrame title={texts.title} above={<Link href="/edge-clusters">{texts.above}</Link>}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          void create()
        }}
      >
        <ClusterFields form={form} faults={faults} set={set} />
        <ControlPlaneFields form={form} faults={faults} set={set} />
        <MachineFields form={form} faults={faults} set={set} />
        <div className="form-end">
          {fault === undefined || faults.size > Number(faults.has('')) ? undefined : (
            <p className="fault" role="alert">
              {faults.get('') ?? fault.message}
            </p>
          )}
          <button
            type="submit"
            className="button is-main"
            disabled={form.name === '' || !check.isGood}
          >
            {texts.create}
          </button>
          <CheckState check={check} isEmpty={form.name === ''} faults={faults.size} />
          <span className="page-space" />
          <CopyButton label={texts.asYaml} text={writeYaml(edgeClusterOf(form))} />
        </div>
      </form>
    </PageFrame>
  )
}

function pathOf({ namespace }: ClusterForm): string {
  return listPath(undefined, edgeClusters, namespace === '' ? 'default' : namespace)
}

interface Check {
  readonly isRunning: boolean
  readonly isGood: boolean
  readonly error?: HubError
  /** How many nodes and services fit, in the hub's words. */
  readonly capacity?: string
}

/** Lets the hub check the form after each pause, without making anything. */
function useCheck(form: ClusterForm): Check {
  const [check, setCheck] = useState<Check>({ isRunning: false, isGood: false })
  useEffect(() => {
    if (form.name === '') return setCheck({ isRunning: false, isGood: false })
    const stop = new AbortController()
    setCheck((before) => ({ ...before, isRunning: true, isGood: false }))
    const ask = async (): Promise<void> => {
      const body = edgeClusterOf(form)
      const { signal } = stop
      try {
        const answer = await askJson<EdgeClusterObject>(`${pathOf(form)}?dryRun=All`, {
          method: 'POST',
          body,
          signal,
        })
        const { capacity } = answer.status ?? {}
        setCheck({
          isRunning: false,
          isGood: true,
          ...(capacity === undefined ? {} : { capacity }),
        })
      } catch (thrown) {
        if (!signal.aborted) {
          setCheck({ isRunning: false, isGood: false, error: asHubError(thrown) })
        }
      }
    }
    const timer = browserClock.after(timeLimits.pauseMs, () => void ask())
    return () => {
      timer.cancel()
      stop.abort()
    }
  }, [form])
  return check
}

interface CheckStateProps {
  readonly check: Check
  readonly isEmpty: boolean
  readonly faults: number
}

function CheckState({ check, isEmpty, faults }: CheckStateProps) {
  const texts = useTexts(both)
  if (isEmpty) return undefined
  if (check.isRunning) return <span className="muted">{texts.checking}</span>
  if (check.isGood) {
    return (
      <span className="tone-ok freshness">
        ● {texts.good} {check.capacity}
      </span>
    )
  }
  return <span className="tone-bad freshness">✕ {texts.faults(Math.max(1, faults))}</span>
}

interface FieldsProps {
  readonly form: ClusterForm
  readonly faults: ReadonlyMap<string, string>
  readonly set: (change: Partial<ClusterForm>) => void
}

function ClusterFields({ form, faults, set }: FieldsProps) {
  const texts = useTexts(both)
  const field = (
    key:
      | 'name'
      | 'namespace'
      | 'displayName'
      | 'podCIDR'
      | 'serviceCIDR'
      | 'dnsDomain'
      | 'podsPerNode'
      | 'apiNames',
    more: { hint?: string; placeholder?: string } = {},
  ) => (
    <TextField
      label={texts[key]}
      value={form[key]}
      fault={faults.get(key)}
      onChange={(value) => set({ [key]: value })}
      {...more}
    />
  )
  return (
    <>
      <fieldset className="panel">
        <legend>{texts.cluster}</legend>
        <div className="fields">
          {field('name', { hint: texts.nameHint })}
          {field('namespace')}
          {field('displayName', { placeholder: texts.optional })}
        </div>
      </fieldset>
      <fieldset className="panel">
        <legend>{texts.network}</legend>
        <div className="fields">
          {field('podCIDR', { placeholder: '10.42.0.0/16' })}
          {field('serviceCIDR', { placeholder: '10.43.0.0/16' })}
          {field('dnsDomain', { placeholder: 'cluster.local' })}
          {field('podsPerNode', { placeholder: '110' })}
          {field('apiNames', { placeholder: texts.optional })}
        </div>
      </fieldset>
    </>
  )
}

function ControlPlaneFields({ form, faults, set }: FieldsProps) {
  const texts = useTexts(both)
  const field = (
    key: 'version' | 'networkInterface' | 'reachAddress' | 'reachPort',
    placeholder: string,
  ) => (
    <TextField
      label={texts[key]}
      value={form[key]}
      fault={faults.get(key)}
      placeholder={placeholder}
      onChange={(value) => set({ [key]: value })}
    />
  )
  const stores = (['SQLite', 'Etcd'] as const).map((key) => [key, texts.stores[key]] as const)
  const reaches = (['None', 'VirtualIP', 'Balancer'] as const).map(
    (key) => [key, texts.reaches[key]] as const,
  )
  const fault = faults.get('store') ?? faults.get('reach')
  return (
    <fieldset className="panel">
      <legend>{texts.controlPlane}</legend>
      <div className="block-choices">
        <ChoiceField
          label={texts.store}
          value={form.store}
          choices={stores}
          onChange={(store) => set({ store })}
        />
        <ChoiceField
          label={texts.reach}
          value={form.reach}
          choices={reaches}
          onChange={(reach) => set({ reach })}
        />
      </div>
      {fault === undefined ? undefined : <p className="fault">✕ {fault}</p>}
      <div className="fields">
        {form.reach === 'None' ? undefined : field('reachAddress', '10.0.0.100')}
        {form.reach === 'Balancer' ? field('reachPort', '6443') : undefined}
        {field('version', texts.versionHint)}
        {field('networkInterface', texts.networkInterfaceHint)}
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={form.mastersTakeWorkloads}
          onChange={(event) => set({ mastersTakeWorkloads: event.target.checked })}
        />
        {texts.mastersTakeWorkloads}
      </label>
    </fieldset>
  )
}

function MachineFields({ form, faults, set }: FieldsProps) {
  const texts = useTexts(both)
  const { machines } = form
  const fault = faults.get('machines')
  const change = (id: number, next: Partial<MachineForm>): void =>
    set({ machines: machines.map((each) => (each.id === id ? { ...each, ...next } : each)) })
  const nextId = Math.max(0, ...machines.map(({ id }) => id)) + 1
  return (
    <fieldset className="panel">
      <legend>{texts.machines}</legend>
      {fault === undefined ? undefined : <p className="fault">✕ {fault}</p>}
      {machines.map((machine, index) => (
        <MachineBlock
          key={machine.id}
          title={texts.block(index + 1)}
          machine={machine}
          faultOf={(key) => faults.get(`machines.${index}.${key}`)}
          onChange={(next) => change(machine.id, next)}
          onRemove={
            machines.length === 1
              ? undefined
              : () => set({ machines: machines.filter(({ id }) => id !== machine.id) })
          }
        />
      ))}
      <div>
        <button
          type="button"
          className="button"
          onClick={() => {
            const { secret = '' } = machines.at(-1) ?? {}
            set({ machines: [...machines, { ...emptyMachine(nextId, 'Node'), secret }] })
          }}
        >
          <Icon name="add" />
          {texts.add}
        </button>
      </div>
    </fieldset>
  )
}
