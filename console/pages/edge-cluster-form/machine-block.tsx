import { CheckField } from '../../parts/check-field.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { LoginFields } from '../../parts/login-fields.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import type { MachineField } from './check-faults.ts'
import type { MachineForm } from './cluster-form.ts'
import { texts as both } from './texts.ts'

interface MachineBlockProps {
  readonly title: string
  readonly machine: MachineForm
  /** Others may have its login. */
  readonly isFirst: boolean
  readonly faultOf: (key: MachineField) => string | undefined
  readonly onChange: (change: Partial<MachineForm>) => void
  /** Undefined for the only block, which stays. */
  readonly onRemove: (() => void) | undefined
}

type TextKey = 'addresses' | 'port' | 'user' | 'hostKey' | 'labels'

/** Machines that have everything but their addresses in common. */
export function MachineBlock(props: MachineBlockProps) {
  const { title, machine, isFirst, faultOf, onChange, onRemove } = props
  const { login, sharesLogin } = machine
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
        {sharesLogin && !isFirst ? undefined : (
          <LoginFields
            login={login}
            placeholder="shop-9-ssh"
            faults={{ login: faultOf('login'), sudo: faultOf('sudo') }}
            onChange={(change) => onChange({ login: { ...login, ...change } })}
          />
        )}
        {field('hostKey', { hint: texts.hostKeyHint, placeholder: 'SHA256:…' })}
        {field('user', { placeholder: 'root' })}
        {field('port', { placeholder: '22' })}
        {field('labels', { placeholder: texts.labelsHint })}
      </div>
      {isFirst ? undefined : (
        <CheckField
          label={texts.sharesLogin}
          isChecked={sharesLogin}
          onChange={(next) => onChange({ sharesLogin: next })}
        />
      )}
      {sharesLogin && !isFirst ? <SharedFaults faultOf={faultOf} /> : undefined}
      <CheckField
        label={texts.acceptsNewKeys}
        isChecked={machine.acceptsNewKeys}
        onChange={(acceptsNewKeys) => onChange({ acceptsNewKeys })}
      />
    </section>
  )
}

/** The login of the first block does not fit these machines. */
function SharedFaults({ faultOf }: Pick<MachineBlockProps, 'faultOf'>) {
  const faults = [faultOf('login'), faultOf('sudo')].filter((fault) => fault !== undefined)
  return faults.map((fault) => (
    <p key={fault} className="fault">
      ✕ {fault}
    </p>
  ))
}
