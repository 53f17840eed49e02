import { ChoiceField } from '../../parts/choice-field.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import type { MachineForm } from './cluster-form.ts'
import { texts as both } from './texts.ts'

interface MachineBlockProps {
  readonly title: string
  readonly machine: MachineForm
  readonly faultOf: (key: keyof MachineForm) => string | undefined
  readonly onChange: (change: Partial<MachineForm>) => void
  /** Undefined for the only block, which stays. */
  readonly onRemove: (() => void) | undefined
}

type TextKey = 'addresses' | 'port' | 'user' | 'secret' | 'hostKey' | 'labels'

/** Machines that have everything but their addresses in common. */
export function MachineBlock(props: MachineBlockProps) {
  const { title, machine, faultOf, onChange, onRemove } = props
  const texts = useTexts(both)
  const field = (key: TextKey, more: { hint?: string; placeholder?: string } = {}) => (
    <TextField
      label={texts[key]}
      value={machine[key]}
      fault={faultOf(key)}
      onChange={(value) => onChange({ [key]: value })}
      {...more}
    />
  )
  const role = (['Master', 'Node', 'Witness'] as const).map(
    (key) => [key, texts.roles[key]] as const,
  )
  return (
    <section className="block" aria-label={title}>
      <h2>
        {title}
        <span className="page-space" />
        <ChoiceField
          label={texts.role}
          value={machine.role}
          choices={role}
          onChange={(next) => onChange({ role: next })}
        />
        {onRemove === undefined ? undefined : (
          <button type="button" className="button is-quiet" onClick={onRemove}>
            {texts.remove}
          </button>
        )}
      </h2>
      <div className="fields">
        {field('addresses', { hint: texts.addressesHint, placeholder: '10.0.0.11' })}
        {field('secret', { hint: texts.secretHint, placeholder: 'shop-9-ssh' })}
        {field('hostKey', { hint: texts.hostKeyHint, placeholder: 'SHA256:…' })}
        {field('user', { placeholder: 'root' })}
        {field('port', { placeholder: '22' })}
        {field('labels', { placeholder: texts.labelsHint })}
      </div>
      <label className="check">
        <input
          type="checkbox"
          checked={machine.acceptsNewKeys}
          onChange={(event) => onChange({ acceptsNewKeys: event.target.checked })}
        />
        {texts.acceptsNewKeys}
      </label>
    </section>
  )
}
