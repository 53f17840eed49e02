/** The fields of the cluster itself: its names, its addresses, and its masters. */
import { ChoiceField } from '../../parts/choice-field.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import type { ClusterForm } from './cluster-form.ts'
import { texts as both } from './texts.ts'

export interface FieldsProps {
  readonly form: ClusterForm
  readonly faults: ReadonlyMap<string, string>
  readonly set: (change: Partial<ClusterForm>) => void
}

interface ClusterFieldsProps extends FieldsProps {
  /** The hub has an object of this name already. */
  readonly isNamed: boolean
}

export function ClusterFields({ form, faults, set, isNamed }: ClusterFieldsProps) {
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
          {isNamed ? (
            <p>
              {form.namespace} / <strong>{form.name}</strong>
            </p>
          ) : (
            <>
              {field('name', { hint: texts.nameHint })}
              {field('namespace')}
            </>
          )}
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

export function ControlPlaneFields({ form, faults, set }: FieldsProps) {
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
