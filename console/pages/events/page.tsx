/** Events of the hub, or of one cluster. */
import { useMemo } from 'react'
import { byName } from '../../data/fleet/fleet.ts'
import { useFleet } from '../../data/fleet/fleet-rows.ts'
import { useUrlValues } from '../../data/browser/use-url-values.ts'
import { ChoiceField } from '../../parts/choice-field.tsx'
import { EventList } from '../../parts/event-list.tsx'
import { PageFrame } from '../../parts/page-frame.tsx'
import { useTexts } from '../../words/language.ts'
import { texts as both } from './texts.ts'

export function EventsPage() {
  const texts = useTexts(both)
  const [values, setValues] = useUrlValues()
  const { rows } = useFleet()
  const names = useMemo(() => rows.map(({ n }) => n).toSorted(byName), [rows])
  const cluster = names.find((name) => name === values.cluster)
  return (
    <PageFrame title={texts.title}>
      <EventList
        key={cluster ?? ''}
        cluster={cluster}
        choices={
          <ChoiceField
            label={texts.of}
            value={cluster ?? ''}
            choices={[['', texts.hub], ...names.map((name) => [name, name] as const)]}
            onChange={(next) => setValues({ cluster: next })}
          />
        }
      />
    </PageFrame>
  )
}
