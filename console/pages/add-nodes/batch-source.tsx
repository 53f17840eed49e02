import { AreaField } from '../../parts/area-field.tsx'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { TextField } from '../../parts/text-field.tsx'
import { useTexts } from '../../words/language.ts'
import { csvColumns, type Batch, type BatchForm } from './batch-form.ts'
import { texts as both } from './texts.ts'

interface BatchSourceProps {
  readonly form: BatchForm
  readonly set: (change: Partial<BatchForm>) => void
  readonly faults: ReadonlyMap<string, readonly string[]>
  readonly batch: Batch
}

/** The machines, by their addresses or as a list. */
export function BatchSource({ form, set, faults, batch }: BatchSourceProps) {
  const texts = useTexts(both)
  const lines = [
    ...batch.faults.map(({ line, why }) => texts.lineFault(line, texts.whyLine[why])),
    ...(faults.get('csv') ?? []),
  ]
  return (
    <>
      <div className="bar">
        <ChoiceField
          label={texts.source}
          value={form.source}
          choices={[
            ['addresses', texts.sources.addresses],
            ['csv', texts.sources.csv],
          ]}
          onChange={(source) => set({ source })}
        />
        {form.source === 'csv' ? (
          <label className="button">
            {texts.readFile}
            <input
              type="file"
              className="only-read"
              accept=".csv,text/csv,text/plain"
              onChange={(event) => {
                const [file] = event.target.files ?? []
                void file?.text().then((csv) => set({ csv }))
              }}
            />
          </label>
        ) : undefined}
      </div>
      {form.source === 'addresses' ? (
        <TextField
          label={texts.addresses}
          value={form.addresses}
          hint={texts.addressesHint}
          placeholder="10.0.0.[11-14]"
          fault={faults.get('addresses')?.join('; ')}
          onChange={(addresses) => set({ addresses })}
        />
      ) : (
        <AreaField
          label={texts.csv}
          value={form.csv}
          rows={6}
          hint={texts.csvHint}
          placeholder={csvColumns.join(',')}
          fault={lines.length === 0 ? undefined : lines.join('; ')}
          onChange={(csv) => set({ csv })}
        />
      )}
    </>
  )
}
