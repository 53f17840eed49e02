import { Empty } from '../../parts/answer-state.tsx'
import { ResourceTable } from '../../parts/resource-table.tsx'
import { useTexts } from '../../words/language.ts'
import type { Binding } from './application-rows.ts'
import { texts as both } from './texts.ts'
import { works, workSelector } from './work-selector.ts'

/** The Works of the object: the hub sends one to each cluster. */
export function WorksTab({ binding }: { readonly binding: Binding }) {
  const texts = useTexts(both)
  const selector = workSelector(binding)
  if (selector === undefined) return <Empty title={texts.noWork} />
  return (
    <ResourceTable cluster={undefined} resource={works} isNamespaced labelSelector={selector} />
  )
}
