import { CheckField } from '../../parts/check-field.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import { works, type JobForm } from './job-form.ts'
import { texts as both } from './texts.ts'

interface FieldsProps {
  readonly form: JobForm
  readonly set: (change: Partial<JobForm>) => void
  readonly faults: ReadonlyMap<string, string>
}

type TextKey = {
  [Key in keyof JobForm]: string extends JobForm[Key] ? Key : never
}[keyof JobForm]

function useField({ form, set, faults }: FieldsProps) {
  const texts = useTexts(both)
  return (key: TextKey, more: { placeholder?: string; hint?: string } = {}) => (
    <TextField
      label={texts.fields[key]}
      value={form[key]}
      fault={faults.get(key)}
      onChange={(value) => set({ [key]: value })}
      {...more}
    />
  )
}

interface WorkFieldsProps extends FieldsProps {
  readonly versions: readonly string[]
}

/** The work of the job on each machine. */
export function WorkFields({ versions, ...props }: WorkFieldsProps) {
  const texts = useTexts(both)
  const { form, set } = props
  return (
    <fieldset className="panel">
      <legend>{texts.work}</legend>
      <div className="block-choices">
        <ChoiceField
          label={texts.work}
          value={form.work}
          choices={works.map((work) => [work, texts.works[work]] as const)}
          onChange={(work) => set({ work })}
        />
      </div>
      <div className="fields">
        {form.work === 'upgrade' ? <UpgradeFields {...props} versions={versions} /> : undefined}
        {form.work === 'configure' ? <ConfigureFields {...props} /> : undefined}
        {form.work === 'pullImages' ? <ImageFields {...props} /> : undefined}
      </div>
    </fieldset>
  )
}

function UpgradeFields({ versions, ...props }: WorkFieldsProps) {
  const texts = useTexts(both)
  const field = useField(props)
  const hint = versions.length === 0 ? texts.noVersions : texts.held(versions.join(', '))
  return (
    <>
      {field('version', { hint, placeholder: versions[0] ?? '' })}
      <ImageFields {...props} />
    </>
  )
}

function ImageFields(props: FieldsProps) {
  const texts = useTexts(both)
  const field = useField(props)
  return (
    <>
      {field('images', { hint: texts.imagesHint, placeholder: 'registry.example/shop/till:1.4' })}
      {field('pullSecret')}
    </>
  )
}

function ConfigureFields(props: FieldsProps) {
  const texts = useTexts(both)
  const { form, set, faults } = props
  const levels = Object.entries(texts.levels)
  const fault = faults.get('siteLogLevel') ?? faults.get('nodeLogLevel')
  return (
    <>
      <div className="field">
        <ChoiceField
          label={texts.fields.siteLogLevel}
          value={form.siteLogLevel}
          choices={levels}
          onChange={(siteLogLevel) => set({ siteLogLevel })}
        />
      </div>
      <div className="field">
        <ChoiceField
          label={texts.metricsAPI}
          value={form.metricsAPI}
          choices={[
            ['', texts.asItIs],
            ['on', texts.on],
            ['off', texts.off],
          ]}
          onChange={(metricsAPI) => set({ metricsAPI })}
        />
      </div>
      <div className="field">
        <ChoiceField
          label={texts.fields.nodeLogLevel}
          value={form.nodeLogLevel}
          choices={levels}
          onChange={(nodeLogLevel) => set({ nodeLogLevel })}
        />
      </div>
      <p className="muted">{texts.configureHint}</p>
      {fault === undefined ? undefined : <p className="fault">✕ {fault}</p>}
    </>
  )
}

/** The machines, their number at once, and whether a person confirms. */
export function ChoiceFields(props: FieldsProps) {
  const texts = useTexts(both)
  const { form, set } = props
  const field = useField(props)
  return (
    <fieldset className="panel">
      <legend>{texts.machines}</legend>
      <div className="fields">
        {field('names', { hint: texts.namesHint, placeholder: 'branch-7, branch-8' })}
        {field('labels', { hint: texts.labelsHint, placeholder: 'tier=shop' })}
        <div className="field">
          <ChoiceField
            label={texts.role}
            value={form.role}
            choices={[
              ['', texts.roles.all],
              ['Master', texts.roles.Master],
              ['Node', texts.roles.Node],
            ]}
            onChange={(role) => set({ role })}
          />
        </div>
        {field('addresses', { placeholder: texts.everyOne })}
        {field('clustersAtOnce', { placeholder: '5' })}
        {field('machinesAtOnce', { placeholder: '1' })}
        {field('failureTolerance', { placeholder: '0', hint: texts.toleranceHint })}
        {field('name', { placeholder: texts.madeByHub })}
        {field('namespace')}
      </div>
      <CheckField
        label={texts.requiresConfirmation}
        isChecked={form.requiresConfirmation}
        onChange={(requiresConfirmation) => set({ requiresConfirmation })}
      />
    </fieldset>
  )
}
