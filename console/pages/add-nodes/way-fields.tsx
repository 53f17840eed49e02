import { ChoiceField } from '../../parts/choice-field.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import { ways, type BatchForm } from './batch-form.ts'
import { texts as both } from './texts.ts'

interface WayFieldsProps {
  readonly form: BatchForm
  readonly set: (change: Partial<BatchForm>) => void
  readonly fault: string | undefined
}

/** How the hub comes to the machines: itself, over another machine, or through a cluster. */
export function WayFields({ form, set, fault }: WayFieldsProps) {
  const texts = useTexts(both)
  const field = (
    key: 'jumpAddress' | 'jumpUser' | 'jumpSecret' | 'viaCluster',
    isFirst = false,
  ) => (
    <TextField
      label={texts[key]}
      value={form[key]}
      fault={isFirst ? fault : undefined}
      onChange={(value) => set({ [key]: value })}
    />
  )
  return (
    <div className="fields">
      <div className="field">
        <ChoiceField
          label={texts.way}
          value={form.way}
          choices={ways.map((way) => [way, texts.ways[way]] as const)}
          onChange={(way) => set({ way })}
        />
      </div>
      {form.way === 'jump' ? (
        <>
          {field('jumpAddress', true)}
          {field('jumpSecret')}
          {field('jumpUser')}
        </>
      ) : undefined}
      {form.way === 'cluster' ? field('viaCluster', true) : undefined}
      {fault === undefined || form.way === 'jump' || form.way === 'cluster' ? undefined : (
        <p className="fault">✕ {fault}</p>
      )}
    </div>
  )
}
